const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const QUOTED = '"(?:[\\t \\x21\\x23-\\x5b\\x5d-\\x7e]|\\\\[\\t\\x20-\\x7e])*"';
const PARAMETER = `[ \\t]*${TOKEN}=(?:${TOKEN}|${QUOTED})`;
/** A space belongs to one place only, so that text without a match takes no time. */
const MEDIA_TYPE = new RegExp(`^${TOKEN}/${TOKEN}(?:[ \\t]*;(?:${PARAMETER})?)*[ \\t]*$`);
const MAX_LENGTH = 255;

/** True for a media type as RFC 9110, section 8.3.1, writes it, parameters included; at most 255 characters. */
export function isMediaType(text: string): boolean {
  return text.length <= MAX_LENGTH && MEDIA_TYPE.test(text);
}

/** Type and subtype of a media type, without its parameters, in lower case. */
export function essenceOf(mediaType: string): string {
  return (mediaType.split(';')[0] ?? '').trim().toLowerCase();
}

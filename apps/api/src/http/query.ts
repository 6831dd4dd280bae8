import { Refusal } from '@millrace/contracts';

/**
 * Why a query cannot be read: a percent-escape that is none, or that makes no UTF-8 (RFC 3986, 2.1). Left alone it would be read
 * as the text that it stands in, which no client means.
 *
 * @param url path and query of a request.
 * @returns null for a sound query; a label filter has an error of its own (wire supplement, section 2).
 */
export function faultOfQuery(url: string): Refusal | null {
  const query = url.slice(url.indexOf('?') + 1);
  if (query.length === url.length || !query.includes('%') || isDecodable(query)) return null;
  const pair = query.split('&').find((text) => !isDecodable(text)) ?? '';
  const [name = ''] = pair.split('=');
  const shown = pair.slice(0, 80);
  if (/^metadata(\[|%5b|$)/i.test(name)) {
    const message = `The metadata filter is not valid: ${shown} contains a malformed percent-escape. Use metadata[key]=value.`;
    return new Refusal('invalid_metadata_filter', message);
  }
  const message = `The query contains a malformed percent-escape: ${shown}. Write a percent sign as %25.`;
  return new Refusal('invalid_request', message, { status: 400 });
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

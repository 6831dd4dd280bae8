const ESCAPE = '\u001b';
const COLOUR = `${ESCAPE}\\[3\\dm`;
const RESET = `${ESCAPE}\\[0m`;
const LEVEL = '(?:DEBUG|DETAIL|INFO|WARNING|ERROR|CRITICAL)';

const TAG = new RegExp(`(?:${ESCAPE}\\[1m)?${COLOUR}\\[${LEVEL}\\]${RESET} (${COLOUR})?`, 'g');
const RESET_AT_END = new RegExp(`${RESET}$`);

/**
 * A line without what ComfyUI's logger adds to it since 0.23: its level in colour in front (`[INFO]`; behind a `print` that broke
 * no line, in the middle), and the colour of some messages. What the code itself colours stays as it is.
 */
export function withoutTags(line: string): string {
  if (!line.includes(ESCAPE)) return line;
  let isColoured = false;
  const text = line.replace(TAG, (_tag, colour: string | undefined) => {
    isColoured ||= colour !== undefined;
    return '';
  });
  return isColoured ? text.replace(RESET_AT_END, '') : text;
}

/**
 * Read labels as a person writes them: `user=ada, team=x`. What is not one is the service's to refuse, by its name.
 *
 * @returns null for an empty text.
 */
export function readLabels(text: string): Record<string, string> | null {
  const named = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  if (named.length === 0) return null;
  return Object.fromEntries(
    named.map((part) => {
      const at = part.indexOf('=');
      return at < 0 ? [part, ''] : [part.slice(0, at).trim(), part.slice(at + 1).trim()];
    }),
  );
}

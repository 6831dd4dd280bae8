import { highlighted, labelOf } from './highlight';

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Text as HTML text. */
function escapeHtml(text: string): string {
  return text.replace(/["&<>]/g, (character) => ESCAPES[character] ?? character);
}

/** A block of code with its language and a button that copies it. The page's script listens for `data-copy`. */
export function codeBlock(code: string, language: string): string {
  const label = labelOf(language);
  const copy = language === 'output' ? '' : `<button type="button" class="button quiet" data-copy>Copy</button>`;
  const html = highlighted(code, language) ?? escapeHtml(code);
  return `<figure class="code-block"><figcaption><span class="small soft">${label}</span>${copy}</figcaption><pre tabindex="0"><code>${html}</code></pre></figure>\n`;
}

const MOVE = /^ *(\S+) --> (\S+?)(?:: (.+))?$/;
const BOUNDARY = '[*]';

/**
 * A Mermaid state diagram as a table of its moves: drawing it would take a library of a megabyte.
 *
 * @throws Error for any other diagram, or a line that is no move.
 */
export function stateTable(diagram: string): string {
  const [kind, ...lines] = diagram.trim().split('\n');
  if (kind?.trim() !== 'stateDiagram-v2') throw new Error(`The site cannot show a diagram of the kind ${kind ?? ''}.`);
  const rows = lines.map((line) => {
    const [, from, to, reason = ''] = MOVE.exec(line) ?? [];
    if (from === undefined || to === undefined) throw new Error(`This line of a diagram is no move: ${line}`);
    const cells = [from === BOUNDARY ? 'start' : from, to === BOUNDARY ? 'end' : to, reason];
    return `<tr>${cells.map((cell) => `<td>${escapeHtml(cell)}</td>`).join('')}</tr>`;
  });
  return `<div class="docs-table" role="group" aria-label="States" tabindex="0"><table><thead><tr><th>from</th><th>to</th><th>by</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>\n`;
}

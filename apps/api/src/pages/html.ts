/** Text that is HTML already. */
export class Html {
  constructor(readonly text: string) {}
}

type Piece = Html | string | number | readonly Html[];

/** HTML from a template; what is put into it is escaped, unless it is HTML already. */
export function html(texts: TemplateStringsArray, ...pieces: Piece[]): Html {
  return new Html(texts.reduce((whole, text, index) => whole + textOf(pieces[index - 1] ?? '') + text));
}

function textOf(piece: Piece): string {
  if (piece instanceof Html) return piece.text;
  if (typeof piece === 'object') return piece.map((inner) => inner.text).join('');
  return escape(String(piece));
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** The Markdown that descriptions are written in: paragraphs, `- ` lists, `code` and **strong**. */
export function prose(markdown: string): Html {
  return new Html(
    markdown
      .split(/\n{2,}/)
      .map(blockOf)
      .join(''),
  );
}

function blockOf(block: string): string {
  const lines = block.split('\n');
  if (!lines[0]?.startsWith('- ')) return `<p>${inline(lines.join(' '))}</p>`;
  const items = block.split(/^- /m).slice(1);
  return `<ul>${items.map((item) => `<li>${inline(item.replace(/\n\s*/g, ' '))}</li>`).join('')}</ul>`;
}

function inline(text: string): string {
  return escape(text)
    .replace(/`([^`]+)`/g, '<code>$1</code>')
    .replace(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>');
}

import MarkdownIt, { type RendererRule, type Token } from 'markdown-it';
import { codeBlock, stateTable } from './blocks';
import { Slugs } from './slugs';

export interface Heading {
  level: number;
  id: string;
  text: string;
}

/** What is below one heading, as text: the unit of the search. */
export interface Section {
  id: string;
  title: string;
  text: string;
}

export interface RenderedPage {
  html: string;
  headings: Heading[];
  sections: Section[];
}

/** Where links and pictures of a page lead. Both throw for what is not there. */
export interface Targets {
  /** The address; null for what is no page: its text stays, and its path beside it. */
  link: (href: string) => string | null;
  picture: (source: string) => string;
  /** The name of a page by that of its file, for links whose text is the file's; null for any other text. */
  nameOf: (file: string) => string | null;
}

/**
 * A page as HTML of our own elements and classes. Markup inside the markdown is text, nothing has a style: the content security policy
 * allows none.
 */
export function renderPage(markdown: string, targets: Targets): RenderedPage {
  const parser = new MarkdownIt({ html: false, linkify: false });
  const tokens = parser.parse(markdown, {});
  const headings = nameHeadings(tokens);
  setTargets(tokens, targets);
  parser.renderer.rules = { ...parser.renderer.rules, ...RULES };
  return { html: parser.renderer.render(tokens, parser.options, {}), headings, sections: sectionsOf(tokens) };
}

const RULES: Record<string, RendererRule> = {
  fence: (tokens, at) => {
    const { content = '', info = '' } = tokens[at] ?? {};
    return info.trim() === 'mermaid' ? stateTable(content) : codeBlock(content, info.trim());
  },
  heading_open: (tokens, at) => {
    const { tag, attrs } = tokens[at] as Token;
    const id = String(attrs?.[0]?.[1] ?? '');
    return `<${tag} id="${id}"><a class="heading-link" href="#${id}">`;
  },
  heading_close: (tokens, at) => `</a></${tokens[at]?.tag ?? 'h2'}>\n`,
  table_open: () => '<div class="docs-table" role="group" aria-label="Table" tabindex="0"><table>\n',
  table_close: () => '</table></div>\n',
};

function nameHeadings(tokens: Token[]): Heading[] {
  const slugs = new Slugs();
  return tokens.flatMap((token, at) => {
    if (token.type !== 'heading_open') return [];
    const text = textOf(tokens[at + 1]);
    const id = slugs.of(text);
    token.attrSet('id', id);
    return [{ level: Number(token.tag.slice(1)), id, text }];
  });
}

/** Rewrites links and pictures in place, and takes away the styles of aligned cells. */
function setTargets(tokens: Token[], targets: Targets): void {
  for (const token of tokens) {
    if (token.type === 'th_open' || token.type === 'td_open') alignByClass(token);
    if (token.children !== null && token.children !== undefined) token.children = withTargets(token.children, targets);
  }
}

function alignByClass(token: Token): void {
  const right = attributeOf(token, 'style').includes('right');
  token.attrs = right ? [['class', 'right']] : null;
}

function withTargets(tokens: Token[], targets: Targets): Token[] {
  const dropped: (string | null)[] = [];
  return tokens.flatMap((token, at) => {
    if (token.type === 'image') token.attrSet('src', targets.picture(attributeOf(token, 'src')));
    if (token.type === 'link_open') {
      const href = attributeOf(token, 'href');
      const target = targets.link(href);
      dropped.push(target === null ? href : null);
      if (target === null) return [];
      token.attrSet('href', target);
      if (/^https?:/.test(target)) token.attrSet('rel', 'noreferrer');
    }
    if (token.type === 'text' && tokens[at - 1]?.type === 'link_open') {
      token.content = targets.nameOf(token.content) ?? token.content;
    }
    if (token.type === 'link_close' && (dropped.pop() ?? null) !== null) return [];
    return [token];
  });
}

/** The text of each part of a page: from one heading to the next. */
function sectionsOf(tokens: Token[]): Section[] {
  const sections: Section[] = [];
  tokens.forEach((token, at) => {
    if (token.type === 'heading_open') {
      sections.push({ id: attributeOf(token, 'id'), title: textOf(tokens[at + 1]), text: '' });
    } else if ((token.type === 'inline' && tokens[at - 1]?.type !== 'heading_open') || token.type === 'fence') {
      const section = sections.at(-1);
      if (section !== undefined) section.text += ` ${token.type === 'fence' ? token.content : textOf(token)}`;
    }
  });
  return sections.map((section) => ({ ...section, text: section.text.trim() }));
}

function textOf(token: Token | undefined): string {
  const words = (token?.children ?? []).map(({ type, content }) => (type.endsWith('break') ? ' ' : content));
  return words.join('');
}

function attributeOf(token: Token, name: string): string {
  return String(token.attrGet(name) ?? '');
}

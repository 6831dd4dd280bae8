import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Html } from './html';

/** The looks of a page, and what the page may do. */
export interface PageStyle {
  /** The `style` element, within the page, so that the page fetches nothing. */
  element: Html;
  /** The page's Content-Security-Policy: its own style, and nothing else. */
  policy: string;
}

/**
 * The looks that all pages of the service share, and those of one page after them.
 *
 * @param files style sheets of the page, whole paths
 */
export function pageStyle(files: readonly string[]): PageStyle {
  const style = [join(__dirname, 'page.css'), ...files].map((file) => readFileSync(file, 'utf8')).join('\n');
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  return { element: new Html(`<style>${style}</style>`), policy };
}

import MiniSearch from 'minisearch';
import type { SitePage } from './site';
import { SEARCH_OPTIONS } from '../src/docs/search-options';

const SHOWN_CHARACTERS = 160;

/** The index of the whole site, as text that the page loads when somebody searches. One entry per heading. */
export function searchIndex(pages: readonly SitePage[]): string {
  const index = new MiniSearch(SEARCH_OPTIONS);
  for (const { slug, label, sections } of pages) {
    for (const { id, title, text } of sections) {
      index.add({ id: `${slug}#${id}`, title, page: label, text, start: text.slice(0, SHOWN_CHARACTERS) });
    }
  }
  return JSON.stringify(index);
}

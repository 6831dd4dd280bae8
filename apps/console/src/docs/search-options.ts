import type { Options } from 'minisearch';

/** One part of a page, as it is found. */
export interface FoundSection {
  /** The page and the heading: `errors#queue_full`. */
  id: string;
  title: string;
  page: string;
  /** How its text begins. */
  start: string;
}

/** How the index is written by the build and read by the page: both must agree. */
export const SEARCH_OPTIONS: Options = {
  fields: ['title', 'page', 'text'],
  storeFields: ['title', 'page', 'start'],
  searchOptions: { boost: { title: 4, page: 2 }, prefix: true, fuzzy: 0.15, combineWith: 'AND' },
};

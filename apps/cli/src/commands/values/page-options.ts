import type { Command } from 'commander';
import { parserOf, wholeNumber } from './typed-value';

/** Which page of a list. */
export interface PageFlags {
  limit?: number;
  cursor?: string;
}

/** `--limit` and `--cursor`, for lists that come in pages. */
export function paged(command: Command): Command {
  return command
    .option('--limit <number>', 'how many at most', parserOf('--limit', wholeNumber(1, 100)))
    .option('--cursor <cursor>', 'continue after an earlier page');
}

/** The address of that page. */
export function pageOf(url: URL, { limit, cursor }: PageFlags): URL {
  if (limit !== undefined) url.searchParams.set('limit', String(limit));
  if (cursor !== undefined) url.searchParams.set('cursor', cursor);
  return url;
}

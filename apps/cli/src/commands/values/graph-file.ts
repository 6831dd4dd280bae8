import { readFileSync } from 'node:fs';
import { JsonText, unreadable } from '../../client';
import { GraphText } from '../../graph';
import type { ReadValue } from './typed-value';

/** Takes the graph away, which is null on the wire. */
const NONE = 'none';

/** A graph in API format from a file, or `none`. @throws {UsageFailure} for a file that cannot be read, or holds no graph. */
export const graphFileOrNone: ReadValue<unknown> = (path) => {
  if (path === NONE) return null;
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw unreadable(path, error);
  }
  return new JsonText(GraphText.parse(text, path).toString());
};

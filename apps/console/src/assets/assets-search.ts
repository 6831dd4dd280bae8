import { SINCE_HOURS, type Since } from '../api/jobs';
import type { AssetFilter } from '../api/assets';

const HOUR_MS = 3_600_000;

/** Kinds of content that a list can be of, each with what its types begin with. */
export const CONTENTS = {
  image: { label: 'Pictures', prefix: 'image/' },
  video: { label: 'Videos', prefix: 'video/' },
  audio: { label: 'Sound', prefix: 'audio/' },
  text: { label: 'Texts', prefix: 'text/' },
} as const;
export type Content = keyof typeof CONTENTS;

/** The filters as they stand in the address, and the asset that is looked at. */
export interface AssetsSearch {
  /** Absent: uploads. */
  kind?: 'output';
  content?: Content;
  since?: Since;
  asset?: string;
}

const isContent = (text: unknown): text is Content => typeof text === 'string' && Object.hasOwn(CONTENTS, text);
const isSince = (text: unknown): text is Since => typeof text === 'string' && Object.hasOwn(SINCE_HOURS, text);

/** Read the search of an address that anyone may have typed: what is no filter is left out. */
export function readAssetsSearch({ kind, content, since, asset }: Record<string, unknown>): AssetsSearch {
  return {
    ...(kind === 'output' ? { kind } : {}),
    ...(isContent(content) ? { content } : {}),
    ...(isSince(since) ? { since } : {}),
    ...(typeof asset === 'string' && asset !== '' ? { asset } : {}),
  };
}

/** What the API is asked for. */
export function filterOf({ kind, content, since }: AssetsSearch): AssetFilter {
  return {
    kind: kind ?? 'upload',
    contentType: content && CONTENTS[content].prefix,
    sinceMs: since && SINCE_HOURS[since] * HOUR_MS,
  };
}

/** Links that work for less than this are replaced by fresh ones. */
const LINK_MARGIN_MS = 60_000;

/** What has a link that ends: an asset, or an output of a job. */
interface Linked {
  id: string;
  name?: string;
  url: string;
  url_expires_at: string;
}

/**
 * What was read, with the links that are known and still work: each read has fresh ones, and a page that took them would load every picture again.
 *
 * @param known what was read before.
 */
export function keepLinks<T>(known: unknown, next: T): T {
  const links = new Map<string, Linked>();
  collect(known, links);
  return links.size === 0 ? next : (withLinks(next, links) as T);
}

function collect(value: unknown, links: Map<string, Linked>): void {
  if (typeof value !== 'object' || value === null) return;
  if (isLinked(value) && Date.parse(value.url_expires_at) > Date.now() + LINK_MARGIN_MS) links.set(keyOf(value), value);
  for (const part of Object.values(value)) collect(part, links);
}

function withLinks(value: unknown, links: Map<string, Linked>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((part) => withLinks(part, links));
  const parts = Object.entries(value).map(([name, part]): [string, unknown] => [name, withLinks(part, links)]);
  const known = isLinked(value) ? links.get(keyOf(value)) : undefined;
  const kept = known === undefined ? {} : { url: known.url, url_expires_at: known.url_expires_at };
  return { ...Object.fromEntries(parts), ...kept };
}

function isLinked(value: object): value is Linked {
  const { id, url, url_expires_at: end } = value as Partial<Linked>;
  return typeof id === 'string' && typeof url === 'string' && typeof end === 'string';
}

const keyOf = ({ id, name = '' }: Linked): string => `${id} ${name}`;

/**
 * Whether a client that sent this `If-None-Match` has what `etag` names (RFC 9110, 13.1.2: tags are compared as weak ones).
 * `Cache-Control` of the request has no say: it speaks to caches, and `fetch` sends `no-cache` with every condition of its own.
 */
export function namesTag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const tags = ifNoneMatch.split(',').map((tag) => opaqueOf(tag.trim()));
  return tags.includes('*') || tags.includes(opaqueOf(etag));
}

function opaqueOf(etag: string): string {
  return etag.replace(/^W\//, '');
}

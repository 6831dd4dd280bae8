/**
 * The headers that carry the id of a request in its answer, of every kind. `X-Comfy-Request-Id` is there for compatibility: it is the
 * only one that the official client for Python (`comfy-sdk`) reads, and shows with an error.
 */
export function requestIdHeaders(requestId: string): Record<string, string> {
  return { 'X-Request-Id': requestId, 'X-Comfy-Request-Id': requestId };
}

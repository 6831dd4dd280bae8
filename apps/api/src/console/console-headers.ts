/**
 * The headers of every file of the console. The page runs and loads what this origin serves, no matter what gets into it, and no
 * other page can frame or open it to look inside.
 *
 * @param bucketOrigin where links to bytes lead, if not to this origin.
 */
export function consoleHeaders(bucketOrigin: string | null): Record<string, string> {
  const bytes = bucketOrigin === null ? '' : ` ${bucketOrigin}`;
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self' blob: data:${bytes}`,
    `media-src 'self' blob:${bytes}`,
    `connect-src 'self'${bytes}`,
    "font-src 'self'",
    "worker-src 'self' blob:",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ];
  return {
    'Content-Security-Policy': policy.join('; '),
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
  };
}

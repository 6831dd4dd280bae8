import { Transform, pipeline, type Readable } from 'node:stream';
import { AddressRefused, GuardedClient, type GuardedAnswer, type ResolveHost } from '@millrace/platform';
import { ImportError } from './import-error';
import type { ImportOrigins } from './import-origins';

/** How long a source may be silent. */
const SILENT_MS = 30_000;
const MOST_REDIRECTS = 5;
const REDIRECTS = [301, 302, 303, 307, 308];
/** Answers after which asking again may help. */
const TRANSIENT = [408, 425, 429];
const CONTENT_RANGE = /^bytes (\d{1,16})-(\d{1,16})\/(\d{1,16})$/;

/** A part of a file as a source sends it. The caller must read or discard the body. */
export interface OriginPart {
  /** Size of the whole file. */
  totalBytes: number;
  /** Names this version of the file; null where the source has no such name. */
  etag: string | null;
  body: Readable;
}

/**
 * Reads parts of files from sources. Every address is checked, that of a redirect like the first, and hosts that the operator has
 * not named are not called.
 */
export class OriginClient {
  private readonly client: GuardedClient;

  constructor(
    private readonly origins: ImportOrigins,
    resolve?: ResolveHost,
  ) {
    this.client = new GuardedClient(origins.guard, SILENT_MS, resolve);
  }

  /**
   * Ask for the bytes from `start` to `end` (exclusive).
   *
   * @param etag the version that is wanted; null: any.
   * @returns the part, whose body ends with an ImportError where it is longer than what was asked for.
   * @throws ImportError; the error of a broken connection.
   */
  async read(
    url: string,
    { start, end }: { start: number; end: number },
    etag: string | null,
    signal: AbortSignal,
  ): Promise<OriginPart> {
    const headers = {
      range: `bytes=${start}-${end - 1}`,
      'accept-encoding': 'identity',
      ...(etag !== null && { 'if-range': etag }),
    };
    const answer = await this.follow(url, headers, signal);
    try {
      return partOf(answer, start, end, etag);
    } catch (error) {
      discard(answer.body);
      throw error;
    }
  }

  private async follow(first: string, headers: Record<string, string>, signal: AbortSignal): Promise<GuardedAnswer> {
    let url = first;
    for (let hops = 0; hops <= MOST_REDIRECTS; hops += 1) {
      // Rules of today: the URL may have been accepted under others.
      const fault = this.origins.faultOf(url);
      if (fault !== null) throw new ImportError(`The URL ${fault}.`, true);
      const answer = await this.client.request(url, { headers, signal }).catch((error: unknown) => {
        throw error instanceof AddressRefused ? new ImportError('The source is not at a public address.', true) : error;
      });
      if (!REDIRECTS.includes(answer.statusCode)) return answer;
      discard(answer.body);
      const location = answer.headers.location;
      if (typeof location !== 'string' || !URL.canParse(location, url)) {
        throw new ImportError('The source redirects to nowhere.', true);
      }
      url = new URL(location, url).href;
    }
    throw new ImportError(`The source redirects more than ${MOST_REDIRECTS} times.`, true);
  }

  /** Cut what is under way. */
  close(): Promise<void> {
    return this.client.close();
  }
}

function partOf(
  { statusCode, headers, body }: GuardedAnswer,
  start: number,
  end: number,
  wanted: string | null,
): OriginPart {
  if (statusCode === 200) {
    const changed = 'The file at the source has changed while it was imported.';
    throw new ImportError(wanted === null ? 'The source does not send parts of a file.' : changed, true);
  }
  if (statusCode === 416 && start === 0) throw new ImportError('The file at the source is empty.', true);
  if (statusCode !== 206) {
    throw new ImportError(`The source answers ${statusCode}.`, statusCode < 500 && !TRANSIENT.includes(statusCode));
  }
  const [, first, last, total] = CONTENT_RANGE.exec(String(headers['content-range'] ?? '')) ?? [];
  const totalBytes = Number(total ?? Number.NaN);
  const isAsked = Number(first) === start && Number(last) === Math.min(end, totalBytes) - 1;
  if (!isAsked || headers['content-encoding'] !== undefined) {
    throw new ImportError('The source does not send parts of a file.', true);
  }
  return { totalBytes, etag: strongTag(headers.etag), body: cutAfter(body, Number(last) + 1 - start) };
}

/** A body that ends with an ImportError where it is longer than the part: a part may be held in memory until it is stored. */
function cutAfter(body: Readable, mostBytes: number): Readable {
  let bytes = 0;
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes <= mostBytes) return done(null, chunk);
      done(new ImportError('The source sends more than the part of the file that was asked for.', true));
    },
  });
  // Each ends the other. A failure is met by who reads the body.
  pipeline(body, counted, () => undefined);
  return counted;
}

/** Weak tags name no bytes. */
function strongTag(etag: string | string[] | undefined): string | null {
  return typeof etag === 'string' && /^"[\x21\x23-\x7e]{1,200}"$/.test(etag) ? etag : null;
}

/** Leave the rest of a body unread. It reports that as an error, which is none. */
export function discard(body: Readable): void {
  body.on('error', () => undefined).destroy();
}

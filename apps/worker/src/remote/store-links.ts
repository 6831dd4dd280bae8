import type { Readable } from 'node:stream';
import { BlobStoreError } from '@millrace/assets';
import type { Logger } from '@millrace/platform';
import { OutOfReach } from '../attempt';
import { Stalled, bytesFrom, idleLimit, request, restFrom } from './bytes';
import { BYTES_TIMEOUT_MS, type DownloadRequest } from './gateway.client';

/** So long all bytes go through the gateway once a link led nowhere: a firewall that drops what it refuses costs 10 s each time. */
const REMEMBERED_MS = 300_000;

const NOT_FOUND = 404;
const TOO_MANY = 429;
const SERVER_ERROR = 500;

/**
 * Whether links of the store lead anywhere from this machine. A worker is promised no more than the gateway's address: where it does not reach
 * the store, or something between refuses it, the gateway passes the bytes on. For all attempts of the worker.
 */
export class StoreLinks {
  private avoidedUntilMs = Number.NEGATIVE_INFINITY;
  /** A link that was answered, and then nothing came: the gateway is tried next. */
  private stalled: { store: string; error: unknown } | null = null;

  constructor(private readonly logger: Pick<Logger, 'warn'>) {}

  /**
   * Do something by a link, or by the gateway where there is none or it does not work.
   *
   * @param signal by which `byLink` is ended: what that breaks says nothing of links.
   * @throws what `byGateway` does; what `byLink` does where the store has answered it.
   */
  async orGateway<T>(
    url: string | null,
    byLink: (url: string) => Promise<T>,
    byGateway: () => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    if (url === null || performance.now() < this.avoidedUntilMs) return byGateway();
    const { stalled } = this;
    this.stalled = null;
    if (stalled !== null) return this.instead(stalled, byGateway);
    try {
      return await byLink(url);
    } catch (error) {
      if (signal?.aborted === true || !isOfLink(error)) throw error;
      return this.instead({ store: new URL(url).host, error }, byGateway);
    }
  }

  /** The same for bytes that are read, of which a link may send some, or none, and then stall: those that are asked for next come by the gateway. */
  async readOrGateway(
    url: string | null,
    request: Pick<DownloadRequest, 'from' | 'headers' | 'signal'>,
    byGateway: () => Promise<Readable>,
  ): Promise<Readable> {
    const { signal } = request;
    const byLink = async (link: string): Promise<Readable> => {
      const bytes = await readFromStore(link, request);
      return bytes.once('error', (error) => {
        if (signal?.aborted !== true && error.cause instanceof Stalled) {
          this.stalled = { store: new URL(link).host, error };
        }
      });
    };
    return this.orGateway(url, byLink, byGateway, signal);
  }

  private async instead<T>(
    { store, error }: { store: string; error: unknown },
    byGateway: () => Promise<T>,
  ): Promise<T> {
    const done = await byGateway();
    this.avoid(store, error);
    return done;
  }

  /**
   * The gateway did what a link did not. One that could not either says that the store was away, as when it is started again. A store that
   * has too much to do is reached all the same.
   */
  private avoid(store: string, error: unknown): void {
    if (error instanceof BlobStoreError && error.fault === 'unreachable') return;
    this.avoidedUntilMs = performance.now() + REMEMBERED_MS;
    const seconds = REMEMBERED_MS / 1_000;
    this.logger.warn(
      { err: error, store, seconds },
      'a link to the store does not work from here; bytes go through the gateway',
    );
  }
}

function isOfLink(error: unknown): boolean {
  if (error instanceof BlobStoreError) return error.fault === 'unreachable' || error.fault === 'denied';
  return error instanceof OutOfReach;
}

/** Put bytes to a link of the store. @throws OutOfReach when it does not answer; BlobStoreError when it refuses them. */
export async function putToStore(url: string, bytes: Buffer, signal?: AbortSignal): Promise<void> {
  const limit = idleLimit(BYTES_TIMEOUT_MS, signal);
  try {
    const response = await request(url, { method: 'PUT', body: new Uint8Array(bytes), signal: limit.signal });
    await response.arrayBuffer().catch(() => undefined);
    if (!response.ok) throw storeFault(response.status);
  } finally {
    limit.release();
  }
}

/**
 * Read what a link of the store leads to, the range of it that the headers name, or what comes from a position on, for as long as bytes come.
 *
 * @throws OutOfReach when it does not answer, as the stream does; BlobStoreError when it refuses them.
 */
export function readFromStore(
  url: string,
  { from = 0, headers, signal }: Pick<DownloadRequest, 'from' | 'headers' | 'signal'> = {},
): Promise<Readable> {
  return bytesFrom(from, signal, async (ends) => {
    const response = await request(url, { method: 'GET', headers: { ...headers, ...restFrom(from) }, signal: ends });
    if (response.ok) return response;
    await response.body?.cancel();
    throw storeFault(response.status);
  });
}

function storeFault(status: number): BlobStoreError {
  const isBusy = status >= SERVER_ERROR || status === TOO_MANY;
  const fault = isBusy ? 'unreachable' : status === NOT_FOUND ? 'missing' : 'denied';
  return new BlobStoreError(fault, `The store answered a link with status ${status}.`);
}

import { Refusal } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import { LoadingCache, type Logger } from '@millrace/platform';
import { hashApiKey, isWellFormedApiKey } from './api-key';
import type { ApiKeyStore, KeyHolder } from './api-key.store';
import type { Caller } from './caller';

/** A revoked key is refused everywhere within 5 s of its revocation. */
const KEY_TTL_MS = 3_000;
const CACHED_KEYS = 10_000;
const TOUCH_EVERY_MS = 10_000;

/** Finds who presents a bearer credential, mostly from its cache. */
export class Authenticator {
  private readonly holders: LoadingCache<KeyHolder | null>;
  private readonly used = new Map<string, Date>();
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly database: Statements,
    private readonly keys: ApiKeyStore,
    private readonly logger: Logger,
  ) {
    this.holders = new LoadingCache({
      max: CACHED_KEYS,
      ttlMs: KEY_TTL_MS,
      load: (hash) => keys.findHolder(database, Buffer.from(hash, 'base64')),
      // An answer never outlives the key.
      ttlMsOf: (holder) => holder?.validMs ?? KEY_TTL_MS,
    });
    this.timer = setInterval(() => void this.flush(), TOUCH_EVERY_MS).unref();
  }

  /**
   * @param authorization the request's Authorization header.
   * @throws Refusal 401 `unauthorized`, with a message that never reveals whether a key exists.
   */
  async authenticate(authorization: string | undefined): Promise<Caller> {
    const key = bearerOf(authorization);
    const caller = isWellFormedApiKey(key) ? await this.lookUp(hashApiKey(key)) : null;
    if (caller === null) {
      throw new Refusal('unauthorized', 'The API key is not valid; it may have expired or been revoked.');
    }
    if (caller.apiKeyId !== null) this.used.set(caller.apiKeyId, new Date());
    return caller;
  }

  private async lookUp(hash: Buffer): Promise<Caller | null> {
    return (await this.holders.get(hash.toString('base64')))?.caller ?? null;
  }

  /** Look every key up again: this process changed keys, and its clients expect to see that at once. */
  forget(): void {
    this.holders.clear();
  }

  /** Record which keys were used. What fails to be written is written with the next. */
  async flush(): Promise<void> {
    if (this.used.size === 0) return;
    const uses = new Map(this.used);
    this.used.clear();
    try {
      await this.keys.touch(this.database, uses);
    } catch (error) {
      this.logger.warn({ err: error }, 'last use of API keys was not recorded');
      for (const [id, time] of uses) if (!this.used.has(id)) this.used.set(id, time);
    }
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.flush();
  }
}

/**
 * The bearer credential of a request, for every surface that requires one.
 *
 * @param what the credential is called in the message when there is none.
 * @throws Refusal 401 when there is none.
 */
export function bearerOf(authorization: string | undefined, what = 'API key'): string {
  const match = /^Bearer +(\S+) *$/i.exec(authorization ?? '');
  if (match?.[1] === undefined) {
    throw new Refusal('unauthorized', `Send the header Authorization: Bearer <${what}>.`);
  }
  return match[1];
}

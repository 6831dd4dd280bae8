import { Refusal } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import type { Logger } from '@millrace/platform';
import { hashApiKey, isWellFormedApiKey } from './api-key';
import type { ApiKeyStore, KeyHolder } from './api-key.store';
import type { Caller } from './caller';

/** A looked-up key is believed this long, so a revoked one is refused everywhere within 5 s of its revocation. */
const BELIEVED_MS = 3_000;
const CACHE_SIZE = 10_000;
const TOUCH_EVERY_MS = 10_000;

interface Belief {
  holder: Promise<KeyHolder | null>;
  /** On the clock of `performance.now()`. */
  until: number;
}

/** Tells who presents a bearer credential, mostly from memory. */
export class Authenticator {
  private readonly believed = new Map<string, Belief>();
  private readonly used = new Map<string, Date>();
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly database: Statements,
    private readonly keys: ApiKeyStore,
    private readonly logger: Logger,
  ) {
    this.timer = setInterval(() => void this.flush(), TOUCH_EVERY_MS).unref();
  }

  /**
   * @param authorization the request's Authorization header.
   * @throws Refusal 401 `unauthorized`, saying which part is wrong and never whether a key exists.
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
    const cacheKey = hash.toString('base64');
    let belief = this.believed.get(cacheKey);
    if (belief === undefined || belief.until <= performance.now()) {
      this.makeRoom();
      belief = this.ask(cacheKey, hash);
      this.believed.set(cacheKey, belief);
    }
    return (await belief.holder)?.caller ?? null;
  }

  /** A belief counts from before the question, and never outlives the key. */
  private ask(cacheKey: string, hash: Buffer): Belief {
    const asked = performance.now();
    const belief: Belief = { holder: this.keys.findHolder(this.database, hash), until: asked + BELIEVED_MS };
    belief.holder.then(
      (holder) => {
        if (typeof holder?.validMs === 'number') belief.until = Math.min(belief.until, asked + holder.validMs);
      },
      // A failed lookup is no answer: the next request asks again.
      () => this.believed.get(cacheKey) === belief && this.believed.delete(cacheKey),
    );
    return belief;
  }

  /** Ask anew for every key: keys were changed by this very process, whose clients expect to see it at once. */
  forget(): void {
    this.believed.clear();
  }

  private makeRoom(): void {
    if (this.believed.size < CACHE_SIZE) return;
    const oldest = this.believed.keys().next();
    if (!oldest.done) this.believed.delete(oldest.value);
  }

  /** Write down which keys were used. What fails to be written is written with the next. */
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
 * Shared by every surface that asks for a bearer credential.
 *
 * @param what it is, for whoever sent none.
 * @throws Refusal 401 when there is none.
 */
export function bearerOf(authorization: string | undefined, what = 'API key'): string {
  const match = /^Bearer +(\S+) *$/i.exec(authorization ?? '');
  if (match?.[1] === undefined) {
    throw new Refusal('unauthorized', `Send the header Authorization: Bearer <${what}>.`);
  }
  return match[1];
}

import { Refusal } from '@millrace/contracts';
import { GroupedReads, type Statements } from '@millrace/database';
import { BoundedMap, type Logger } from '@millrace/platform';
import { isWellFormedApiKey, keyHashText } from './api-key';
import type { ApiKeyMint } from './api-key-mint';
import type { ApiKeyStore, EndedKey, KeyHolder } from './api-key.store';
import type { RefusalLog } from './audit-log';
import type { Caller } from './caller';
import type { FailedAttempts } from './failed-attempts';
import { CachedHolders } from './known-secrets';

/** A revoked key is refused everywhere within 5 s of its revocation. */
const KEY_TTL_MS = 3_000;
const REFRESH_AFTER_MS = 2_000;
const ENDED_KEYS = 10_000;
const TOUCH_EVERY_MS = 10_000;

/** Finds who presents a bearer credential, mostly from its cache. */
export class Authenticator {
  private readonly holders: CachedHolders<KeyHolder>;
  /** Of those that are known to have ended, whose they were, by their hashes. */
  private readonly endedKeys = new BoundedMap<EndedKey>(ENDED_KEYS);
  /** Of many keys that come at once, as after a restart, in few statements. */
  private readonly readings: GroupedReads<string, KeyHolder>;
  private readonly used = new Map<string, Date>();
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly database: Statements,
    private readonly keys: ApiKeyStore,
    private readonly mint: ApiKeyMint,
    private readonly failures: FailedAttempts,
    private readonly logger: Logger,
    private readonly refusals: Pick<RefusalLog, 'note'>,
  ) {
    this.readings = new GroupedReads((hashes) => keys.findHolders(database, hashes.map(bytesOf)));
    this.holders = new CachedHolders(failures, {
      load: (hash) => this.load(hash),
      ttlMs: KEY_TTL_MS,
      refreshAfterMs: REFRESH_AFTER_MS,
      countsLookUps: false,
    });
    this.timer = setInterval(() => void this.flush(), TOUCH_EVERY_MS).unref();
  }

  /**
   * @param authorization the request's Authorization header.
   * @param network where it came from; its failures are limited.
   * @throws Refusal 401 `unauthorized`, with a message that never reveals whether a key exists; 429 `rate_limited` after too
   * many failures of the network.
   */
  async authenticate(authorization: string | undefined, network: string): Promise<Caller> {
    return this.holderOf(bearerOf(authorization), network);
  }

  /** Who has a key. @throws Refusal as `authenticate` does. */
  async holderOf(key: string, network: string): Promise<Caller> {
    const hash = keyHashText(key);
    const caller = await this.lookUp(key, hash, network);
    if (caller === null) {
      this.noteRefusal(hash, network);
      throw this.failures.refusal(network, 'The API key is not valid; it may have expired or been revoked.');
    }
    this.noteUse(caller);
    return caller;
  }

  /** Note that a caller's key was used, by itself or by a session that was made with it. */
  noteUse({ apiKeyId }: Caller): void {
    if (apiKeyId !== null) this.used.set(apiKeyId, new Date());
  }

  /** Whose key it was learns that it was presented, and from where. */
  private noteRefusal(hash: string, network: string): void {
    const ended = this.endedKeys.get(hash);
    if (ended === undefined) return;
    const act = { action: 'api_key.refuse', subjectType: 'api_key', subjectId: ended.id, accountId: ended.accountId };
    this.refusals.note(act, network, bytesOf(hash));
  }

  private async lookUp(key: string, hash: string, network: string): Promise<Caller | null> {
    if (!isWellFormedApiKey(key)) return null;
    return (await this.holders.find({ hash, isOurs: this.mint.made(key), network }))?.caller ?? null;
  }

  private async load(hash: string): Promise<KeyHolder | null> {
    const holder = await this.readings.get(hash);
    if (holder !== null) return holder;
    const ended = await this.keys.findEndedKey(this.database, bytesOf(hash));
    if (ended !== null) this.endedKeys.set(hash, ended);
    return null;
  }

  /** Look every key up again: this process changed keys, and its clients expect to see that at once. */
  forget(): void {
    this.holders.forget();
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

function bytesOf(hash: string): Buffer {
  return Buffer.from(hash, 'base64');
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

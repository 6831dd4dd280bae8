import { AsyncLocalStorage } from 'node:async_hooks';
import type { Statements } from '@millrace/database';
import type { Logger } from '@millrace/platform';
import type { Act } from './audit-log';
import type { AuditLogStore } from './audit-log.store';

const WINDOW_MS = 3_600_000;
const FLUSH_EVERY_MS = 60_000;
/** Of one account, or of the operators, in an hour; more are counted together, without an address. */
const WINDOWS_OF_ONE = 50;
/** Of all; more are counted nowhere but in the logs. */
const WINDOWS = 20_000;

/** Who presented a credential is not known: only whose it once was. */
const UNPROVEN = 'unauthenticated';

/** What was refused, and from which network. */
interface Refused {
  act: Act;
  network: string | null;
  /** Of the key that was presented; null where it was no key. */
  keyHash: Buffer | null;
}

/** The refusals of an hour that are one to the log. */
interface Window extends Refused {
  since: number;
  /** Of them one is in the log already. */
  count: number;
  lastAt: number;
}

/**
 * Credentials that were refused although they name an account or the operators, in the audit log: a revoked key, a token that has
 * expired, a sign-in link in another browser. Anyone who has an old credential can repeat it at will, so the first of an hour
 * from a network is an entry, and how often it was repeated is another, when the hour is over.
 */
export class RefusalLog {
  private readonly windows = new Map<string, Window>();
  private readonly perScope = new Map<string, number>();
  private readonly writes = new Set<Promise<void>>();
  private readonly timer: NodeJS.Timeout;
  /** What is noted within a transaction, which the refusal undoes, is written outside of it. */
  private readonly outside = AsyncLocalStorage.snapshot();

  /** @param now milliseconds on any clock. */
  constructor(
    private readonly database: Statements,
    private readonly store: Pick<AuditLogStore, 'appendRefusal'>,
    private readonly logger: Logger,
    private readonly now: () => number = Date.now,
  ) {
    this.timer = setInterval(() => this.flush(), FLUSH_EVERY_MS).unref();
  }

  /**
   * Note a refusal. It is written meanwhile: no caller waits for it. Of what was erased by then nothing is written.
   *
   * @param network where it came from, as `networkOf` says it.
   * @param keyHash of the key that was presented; null where it was no key.
   */
  note(act: Act, network: string, keyHash: Buffer | null = null): void {
    const scope = scopeOf(act);
    const key = `${scope} ${act.action} ${act.subjectId} ${network}`;
    if (!this.counted(key) && !this.begin(key, { act, network, keyHash })) {
      const rest = { ...act, action: 'credentials.refuse', ...subjectOf(act) };
      const restKey = `${scope} rest`;
      if (!this.counted(restKey)) this.begin(restKey, { act: rest, network: null, keyHash: null });
    }
  }

  /** Write what the windows counted that are over; of all of them before the process ends. */
  flush(all = false): void {
    for (const [key, window] of this.windows) {
      if (!all && this.now() - window.since < WINDOW_MS) continue;
      this.windows.delete(key);
      const scope = scopeOf(window.act);
      this.perScope.set(scope, (this.perScope.get(scope) ?? 1) - 1);
      if ((this.perScope.get(scope) ?? 0) <= 0) this.perScope.delete(scope);
      if (window.count === 1) continue;
      const details = { repeated: window.count - 1, until: new Date(window.lastAt).toISOString() };
      this.write({ ...window, act: { ...window.act, details } });
    }
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    this.flush(true);
    await Promise.all(this.writes);
  }

  /** False where the refusal is the first of its hour. */
  private counted(key: string): boolean {
    const window = this.windows.get(key);
    if (window === undefined) return false;
    window.count += 1;
    window.lastAt = this.now();
    return true;
  }

  /** @returns false where there are too many windows. */
  private begin(key: string, refusal: Refused): boolean {
    const { act, network } = refusal;
    const scope = scopeOf(act);
    const open = this.perScope.get(scope) ?? 0;
    const isRest = network === null;
    if (this.windows.size >= WINDOWS || (open >= WINDOWS_OF_ONE && !isRest)) return false;
    this.perScope.set(scope, open + 1);
    this.windows.set(key, { ...refusal, since: this.now(), lastAt: this.now(), count: 1 });
    this.write(refusal);
    return true;
  }

  private write({ act, network: address, keyHash }: Refused): void {
    const written = this.outside(() =>
      this.store.appendRefusal(this.database, { actor: UNPROVEN, address }, act, keyHash),
    )
      .catch((error: unknown) => this.logger.warn({ err: error }, 'a refusal is not in the audit log'))
      .finally(() => this.writes.delete(written));
    this.writes.add(written);
  }
}

const scopeOf = ({ accountId }: Act): string => accountId ?? 'operators';

function subjectOf({ accountId }: Act): Pick<Act, 'subjectType' | 'subjectId'> {
  return accountId === null
    ? { subjectType: 'operators', subjectId: 'operators' }
    : { subjectType: 'account', subjectId: accountId };
}

import { BoundedMap } from '@millrace/platform';
import type { FailedAttempts } from '../failed-attempts';

/** Secrets remembered at most, of those that work and of those that ended each; the one presented longest ago goes first. */
const REMEMBERED = 10_000;
/** No secret comes back once it has ended; after so long it is looked up again all the same, as the database may have been restored. */
const ENDED_MS = 60_000;

export interface KnownSecretsOptions {
  /**
   * Whether a look-up of an ended secret counts as a failure of its network; false where the caller counts each answer. A browser
   * repeats the one secret that it has: so its look-ups are counted, of which there is one a minute, and not its answers. On a deployment
   * each answer counts.
   */
  countsLookUps: boolean;
  /** Milliseconds on a clock that only goes forward. */
  now?: () => number;
}

/** How to look up a secret. Null: nobody has it, or it has ended. */
export interface SecretLookUp<T> {
  /** Of the secret; it says nothing of it. */
  hash: string;
  /** Whether it has our tag, so that nobody else can have made it. */
  isOurs: boolean;
  network: string;
  load: () => Promise<T | null>;
  /** Where `load` would begin no look-up: the answer is there, or on its way. */
  isThere?: boolean;
  /** For secrets that worked before. Absent: `load`. */
  loadProven?: () => Promise<T | null>;
}

/**
 * What this process knows of the secrets of one kind, by their hashes, and so which of them are looked up: one that worked before no matter
 * what its network sends, one that has ended once a minute, and any other within the limits of its network.
 */
export class KnownSecrets {
  private readonly proven = new BoundedMap<true>(REMEMBERED);
  private readonly ended = new BoundedMap<{ since: number }>(REMEMBERED);
  /** Look-ups of secrets that are not known, by their hashes: one that is presented many times at once is looked up, and counted, once. */
  private readonly underWay = new Map<string, Promise<unknown>>();

  constructor(
    private readonly failures: FailedAttempts,
    private readonly options: KnownSecretsOptions,
  ) {}

  /** @throws Refusal 429 `rate_limited`, without a look-up, when the network has none left; what `load` throws. */
  async find<T>(wanted: SecretLookUp<T>): Promise<T | null> {
    const { hash, load, loadProven = load } = wanted;
    if (this.proven.has(hash)) return this.noted(wanted, await loadProven());
    if (this.hasEnded(hash)) return null;
    return this.noted(wanted, await (wanted.isThere === true ? load() : this.lookUpOnce(wanted)));
  }

  private lookUpOnce<T>(wanted: SecretLookUp<T>): Promise<T | null> {
    const { hash } = wanted;
    const begun = this.underWay.get(hash) as Promise<T | null> | undefined;
    if (begun !== undefined) return begun;
    const lookUp = this.lookUp(wanted).finally(() => this.underWay.delete(hash));
    this.underWay.set(hash, lookUp);
    return lookUp;
  }

  private async lookUp<T>({ isOurs, network, load }: SecretLookUp<T>): Promise<T | null> {
    if (!isOurs) return this.failures.lookUp(network, load);
    const found = await this.failures.lookUpTagged(network, load);
    if (found === null && this.options.countsLookUps) this.failures.count(network);
    return found;
  }

  private noted<T>({ hash, isOurs }: SecretLookUp<T>, found: T | null): T | null {
    if (found !== null) {
      this.proven.set(hash, true);
      return found;
    }
    this.proven.delete(hash);
    if (isOurs) this.ended.set(hash, { since: this.now() });
    return null;
  }

  private hasEnded(hash: string): boolean {
    const ended = this.ended.get(hash);
    return ended !== undefined && this.now() - ended.since < ENDED_MS;
  }

  private now(): number {
    return (this.options.now ?? performance.now.bind(performance))();
  }
}

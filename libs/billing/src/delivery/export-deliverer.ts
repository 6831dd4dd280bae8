import type { Statements } from '@millrace/database';
import { joinSignals, type Logger } from '@millrace/platform';
import type { DailyExports } from '../exports';
import {
  claimDeliveries,
  planDeliveries,
  recordWrite,
  type ClaimedDelivery,
  type Lane,
  type WriteOutcome,
} from './claim.store';
import type { DestinationSecrets } from './destination-secrets';
import { writeDay, writeTest } from './day-files';
import { locationOf, ownPrefix, type ExportBucket, type ObjectWriter } from './export-destination';
import { Places } from './places';
import { pauseSeconds } from './retry-schedule';

/** An attempt takes no longer: who accepts bytes one by one takes a place for so long. */
const ATTEMPT_SECONDS = 600;
const LEASE_SECONDS = ATTEMPT_SECONDS + 60;
/** How long a process that stops waits for attempts under way. What is cut off then is written again. */
const CLOSE_MS = 3_000;

const UNREADABLE = 'The credentials of the destination cannot be read any more. Set the destination again.';

/** Writes what is due, for a few accounts at once, and never waits for one bucket before it writes to another. */
export class ExportDeliverer {
  private readonly underWay = new Set<Promise<void>>();
  private readonly places = new Places();
  private readonly closing = new AbortController();

  constructor(
    private readonly database: Statements,
    private readonly exports: Pick<DailyExports, 'file' | 'at'>,
    private readonly secrets: DestinationSecrets,
    private readonly writer: ObjectWriter,
    private readonly ownBucket: string | null,
    private readonly logger: Pick<Logger, 'warn'>,
  ) {}

  /**
   * Make deliveries of days that are complete, claim what is due and begin to write it.
   *
   * @returns how many; it does not wait for the buckets.
   * @throws when the database does not answer: what was claimed is due again when its lease ends.
   */
  async deliverDue(): Promise<number> {
    if (this.closing.signal.aborted) return 0;
    const planned = await planDeliveries(this.database, this.exports.at);
    const slow = await this.beginDue('slow');
    return planned + slow + (await this.beginDue('quick'));
  }

  /** Accounts have their turns one after the other, and begin again when all had theirs. @returns how many deliveries have begun. */
  private async beginDue(lane: Lane): Promise<number> {
    const room = this.places.room(lane);
    if (room.limit <= 0) return 0;
    const claimed = await claimDeliveries(this.database, room, LEASE_SECONDS);
    this.places.turn(room, claimed);
    if (claimed.length === 0 && room.after !== null) return this.beginDue(lane);
    for (const delivery of claimed) this.begin(delivery, lane);
    return claimed.length;
  }

  private begin(delivery: ClaimedDelivery, lane: Lane): void {
    const beganMs = performance.now();
    this.places.begin(delivery.accountId, lane);
    const attempt = this.attempt(delivery, beganMs);
    this.underWay.add(attempt);
    void attempt.finally(() => {
      this.underWay.delete(attempt);
      this.places.end(delivery.accountId, performance.now() - beganMs);
    });
  }

  /** Never rejects: a result that is not recorded leaves the day to be written again. */
  private async attempt(delivery: ClaimedDelivery, beganMs: number): Promise<void> {
    const over = joinSignals(this.closing.signal, AbortSignal.timeout(ATTEMPT_SECONDS * 1_000));
    try {
      const outcome = await this.write(delivery, over.signal).finally(over.release);
      // Cut off by this process, not by the bucket.
      if (this.closing.signal.aborted && outcome.kind === 'failed') return;
      await recordWrite(this.database, delivery, outcome, Math.round(performance.now() - beganMs));
    } catch (error) {
      this.logger.warn({ err: error, delivery: delivery.id }, 'an export was not written; it is written again');
    }
  }

  private async write(delivery: ClaimedDelivery, signal: AbortSignal): Promise<WriteOutcome> {
    const { accountId, day, tries } = delivery;
    const failed = (error: string): WriteOutcome => ({ kind: 'failed', error, pauseSeconds: pauseSeconds(tries) });
    const target = this.targetOf(delivery);
    if (typeof target === 'string') return failed(target);
    const prefix = (target === null ? ownPrefix(accountId) : '') + delivery.prefix;
    const location = locationOf({ bucket: target?.bucket ?? this.ownBucket ?? '', prefix });
    if (day === null) {
      const error = await writeTest(this.writer, { target, prefix }, signal);
      return error === null ? { kind: 'delivered', location, files: null } : failed(error);
    }
    const written = await writeDay(this.exports, this.writer, { accountId, day, target, prefix }, signal);
    if (written.error !== null) return failed(written.error);
    const { usage, ledger } = written;
    return { kind: 'delivered', location, files: { usage, ledger } };
  }

  /** Null: the service's own bucket. @returns a sentence where it cannot be known. */
  private targetOf(delivery: ClaimedDelivery): ExportBucket | null | string {
    const { accountId, bucket, region, endpoint, accessKeyId, sealedSecret } = delivery;
    if (bucket === null || region === null || accessKeyId === null || sealedSecret === null) {
      return this.ownBucket === null ? 'The service has no bucket of its own any more. Name one of yours.' : null;
    }
    try {
      return { bucket, region, endpoint, accessKeyId, secretAccessKey: this.secrets.open(sealedSecret, accountId) };
    } catch (error) {
      // The key that sealed it was removed from the ring. Those of other accounts are written.
      this.logger.warn({ err: error, account: accountId }, 'the secret of an export destination cannot be opened');
      return UNREADABLE;
    }
  }

  /** Wait for what is under way, for some seconds, and cut the rest off. */
  async close(): Promise<void> {
    const timer = setTimeout(() => this.closing.abort(), CLOSE_MS);
    await Promise.all(this.underWay);
    clearTimeout(timer);
    this.closing.abort();
    await this.writer.close();
  }
}

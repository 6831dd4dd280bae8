import type { Statements } from '@millrace/database';
import { joinSignals, type Logger } from '@millrace/platform';
import type { DailyExports } from '../exports';
import { claimDeliveries, planDeliveries, recordWrite, type ClaimedDelivery, type WriteOutcome } from './claim.store';
import type { DestinationSecrets } from './destination-secrets';
import { writeDay, writeTest } from './day-files';
import { locationOf, ownPrefix, type ExportBucket, type ObjectWriter } from './export-destination';
import { pauseSeconds } from './retry-schedule';

/** Deliveries at once in one process, and of these at destinations that fail. */
const AT_ONCE = 6;
const FAILING_AT_ONCE = 3;
/** An attempt takes no longer: who accepts bytes one by one takes a place for so long. */
const ATTEMPT_SECONDS = 600;
const LEASE_SECONDS = ATTEMPT_SECONDS + 60;
/** How long a process that stops waits for attempts under way. What is cut off then is written again. */
const CLOSE_MS = 3_000;

const UNREADABLE = 'The credentials of the destination cannot be read any more. Set the destination again.';

/** Writes what is due, a few days at once, and never waits for one bucket before it writes to another. */
export class ExportDeliverer {
  private readonly underWay = new Map<Promise<void>, boolean>();
  private readonly closing = new AbortController();

  constructor(
    private readonly database: Statements,
    private readonly exports: Pick<DailyExports, 'file' | 'firstIncompleteDay'>,
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
    const planned = await planDeliveries(this.database, this.exports.firstIncompleteDay());
    const failingUnderWay = [...this.underWay.values()].filter((failing) => failing).length;
    const room = AT_ONCE - this.underWay.size;
    const failingRoom = Math.min(room, FAILING_AT_ONCE - failingUnderWay);
    const lease = { leaseSeconds: LEASE_SECONDS };
    const failing = await claimDeliveries(this.database, { ...lease, failing: true, limit: failingRoom });
    const well = await claimDeliveries(this.database, { ...lease, failing: false, limit: room - failing.length });
    for (const delivery of failing) this.begin(delivery, true);
    for (const delivery of well) this.begin(delivery, false);
    return planned + failing.length + well.length;
  }

  private begin(delivery: ClaimedDelivery, failing: boolean): void {
    const attempt = this.attempt(delivery);
    this.underWay.set(attempt, failing);
    void attempt.finally(() => this.underWay.delete(attempt));
  }

  /** Never rejects: a result that is not recorded leaves the day to be written again. */
  private async attempt(delivery: ClaimedDelivery): Promise<void> {
    const beganMs = performance.now();
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
    await Promise.all(this.underWay.keys());
    clearTimeout(timer);
    this.closing.abort();
    await this.writer.close();
  }
}

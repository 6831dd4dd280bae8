import { newId, Refusal } from '@millrace/contracts';
import type { Database, Statements } from '@millrace/database';
import { NOTHING, type AuditSpan, type AuditSpanStore, type BookSums, type LedgerAuditStore } from '../audit';
import { rebuildLots, type LotChange } from './rebuilt-lots';
import type { OrphanHold, RepairNote, RepairStore, SpanContents, StoredBalance } from './repair.store';

/** The part of an account's ledger that can no longer change. */
export interface ReadLedger extends SpanContents {
  accountId: string;
  /** What comes after it. */
  rest: AuditSpan;
}

/** What a rebuild changes, or would change. */
export interface Rebuild {
  isChanged: boolean;
  before: StoredBalance;
  after: StoredBalance;
  lots: LotChange[];
  /** Holds that it ends: of jobs that have ended, or are no more. */
  ended: OrphanHold[];
  /** Such holds whose charge is of another day, or differs from the usage record: while an account has one, nothing of it can be rebuilt. */
  left: OrphanHold[];
  /** What it gives the account, which has spent so much more than it had; its lot is among `lots`. Null: nothing. The id of a comparison is not used. */
  grant: { id: string; micros: bigint } | null;
}

/** Jobs that a refusal names; a comparison has all. */
const NAMED = 5;
const NO_BALANCE: StoredBalance = { ...NOTHING, drawnMicros: 0n };
const NEVER_CREDITED = { isChanged: false, before: NO_BALANCE, after: NO_BALANCE, grant: null } as const;
const BEYOND = 'Spent beyond what the account had, while its balance was higher than its ledger.';
const ENDED = 'The job has ended, and its hold had not.';

/**
 * Rebuilds the balance and the lots of an account from its ledger, which is only appended to and is right where they differ. The ledger is read
 * in parts, as the audit reads it, up to ten minutes ago; only what comes after it is read under the lock of the balance, for which jobs wait.
 */
export class BalanceRepair {
  constructor(
    private readonly database: Database,
    private readonly spans: AuditSpanStore,
    private readonly ledger: LedgerAuditStore,
    private readonly store: RepairStore,
  ) {}

  /** Read what can no longer change, without a lock: the begin of a rebuild. @throws Refusal as `compare`. */
  async read(accountId: string): Promise<ReadLedger> {
    const read: SpanContents = { broughtBy: [], orphanJobs: [] };
    let rest = await this.spans.partOf(this.database, accountId, null);
    while (rest.until !== null) {
      const { until } = rest;
      add(read, await this.store.contents(this.database, accountId, rest));
      const sums = await this.sumsOf(this.database, rest);
      rest = await this.spans.partOf(this.database, accountId, { reachedAt: until, sums, day: null });
    }
    return { accountId, ...read, rest };
  }

  /**
   * What a rebuild would change, beside the holds for which it is refused. It locks the balance as the rebuild does, so what it shows is of one moment.
   *
   * @throws Refusal `invalid_request` where the ledger contradicts itself.
   */
  async compare(read: ReadLedger): Promise<Rebuild> {
    return this.database.transaction(async (tx) => {
      const isMissing = await this.store.lacksBalance(tx, read.accountId);
      return this.differences(tx, read, isMissing);
    });
  }

  /**
   * Make balance and lots what the ledger says, in the caller's transaction. Where all agree, nothing is written. A balance that is missing is made. An account that has spent what it
   * never had is given the difference: a balance is never negative. Where the end of a hold is lost, so is what the hold returned, and sums without
   * it would be granted a second time once its rows are back: then nothing is written.
   *
   * @param actor who does it, for the ledger.
   * @throws Refusal `invalid_request` where the ledger contradicts itself, or lacks ends of holds that cannot be posted now: no balance follows from it.
   */
  async rebuild(tx: Statements, read: ReadLedger, actor: string): Promise<Rebuild> {
    const { accountId } = read;
    const rebuild = await this.differences(tx, read, await this.store.addBalance(tx, accountId));
    if (rebuild.left.length > 0) throw incomplete(rebuild.left);
    if (!rebuild.isChanged) return rebuild;
    const { after, ended, lots, grant } = rebuild;
    await this.store.setBalance(tx, accountId, after);
    const note = (reason: string): RepairNote => ({ actor, reason });
    if (ended.length > 0) await this.store.endHolds(tx, accountId, note(ENDED), ended);
    if (grant !== null) await this.store.give(tx, accountId, note(BEYOND), grant);
    if (lots.length > 0) await this.store.setLots(tx, accountId, lots);
    return rebuild;
  }

  /** @param isMissing the account has movements, and has or had no balance. */
  private async differences(tx: Statements, read: ReadLedger, isMissing: boolean): Promise<Rebuild> {
    const { accountId, rest } = read;
    const before = await this.store.lock(tx, accountId);
    // Nothing is locked then: its first credits may be posted meanwhile, with their balance.
    if (before === null && !isMissing) return { ...NEVER_CREDITED, lots: [], ended: [], left: [] };
    const sums = await this.sumsOf(tx, rest);
    const latest = await this.store.contents(tx, accountId, rest);
    const jobIds = [...read.orphanJobs, ...latest.orphanJobs];
    const orphans = jobIds.length === 0 ? [] : await this.store.orphans(tx, accountId, jobIds);
    const states = await this.store.lots(tx, accountId, [...read.broughtBy, ...latest.broughtBy]);
    const brought = states.reduce((sum, lot) => sum + lot.broughtMicros, 0n);
    const ended = orphans.filter((orphan) => orphan.canEnd);
    const left = orphans.filter((orphan) => !orphan.canEnd);
    const books = afterEnds(sums, ended);
    // A job whose hold the ledger lost could not end: it gives back what would not be there.
    const toEnd = left.reduce((sum, hold) => sum + hold.heldMicros, await this.store.heldByJobs(tx, accountId));
    const isPossible = books.heldMicros >= toEnd && states.every((lot) => lot.broughtMicros >= 0n);
    if (!isPossible || brought !== totalOf(sums)) throw contradiction();
    const stored = before ?? NO_BALANCE;
    const { changes: lots, drawnMicros } = rebuildLots(states, { ...books, drawnMicros: stored.drawnMicros });
    const grant = books.availableMicros < 0n ? { id: newId(), micros: -books.availableMicros } : null;
    if (grant !== null) lots.push(lotOf(grant));
    const after = { ...books, availableMicros: books.availableMicros + (grant?.micros ?? 0n), drawnMicros };
    const isChanged = isMissing || ended.length > 0 || lots.length > 0 || !isSame(stored, after);
    return { isChanged, before: stored, after, lots, ended, left, grant };
  }

  private async sumsOf(tx: Statements, span: AuditSpan): Promise<BookSums> {
    if (await this.ledger.isBroken(tx, span)) throw contradiction();
    const { availableMicros, heldMicros, consumedMicros } = await this.ledger.sum(tx, span);
    return { availableMicros, heldMicros, consumedMicros };
  }
}

function lotOf({ id, micros }: { id: string; micros: bigint }): LotChange {
  return { transactionId: id, before: null, after: { remainingMicros: micros, drawnMicros: 0n } };
}

function add(all: SpanContents, more: SpanContents): void {
  for (const id of more.broughtBy) all.broughtBy.push(id);
  for (const id of more.orphanJobs) all.orphanJobs.push(id);
}

function afterEnds(sums: BookSums, ended: readonly OrphanHold[]): BookSums {
  let { availableMicros, heldMicros, consumedMicros } = sums;
  for (const hold of ended) {
    heldMicros -= hold.heldMicros;
    consumedMicros += hold.chargedMicros;
    availableMicros += hold.heldMicros - hold.chargedMicros;
  }
  return { availableMicros, heldMicros, consumedMicros };
}

const totalOf = (sums: BookSums): bigint => sums.availableMicros + sums.heldMicros + sums.consumedMicros;

function isSame(one: StoredBalance, other: StoredBalance): boolean {
  return (
    totalOf(one) === totalOf(other) &&
    one.availableMicros === other.availableMicros &&
    one.heldMicros === other.heldMicros &&
    one.drawnMicros === other.drawnMicros
  );
}

function incomplete(left: readonly OrphanHold[]): Refusal {
  const named = left.slice(0, NAMED).map(({ jobId }) => jobId);
  const more = left.length > NAMED ? ` and ${left.length - NAMED} more` : '';
  const reason =
    `has a ledger that lacks how the holds of these jobs ended: ${named.join(', ')}${more}. What they were charged is of another day, or their usage ` +
    'records have another amount, so nothing was changed: put the rows that are missing back from a backup, as the section MillraceLedgerImbalance of ' +
    'docs/alerts.md says, and rebuild then; dry_run lists them (left)';
  return Refusal.ofFields([{ field: 'id', reason }]);
}

function contradiction(): Refusal {
  const reason =
    'has a ledger whose entries contradict each other, so no balance follows from it: the audit (GET /admin/v1/audit) names them, and ' +
    'the section MillraceLedgerImbalance of docs/alerts.md has what to do';
  return Refusal.ofFields([{ field: 'id', reason }]);
}

import { Refusal, type BatchFault } from '@millrace/contracts';
import { ITEM_FAULTS, accountQueueFull, insufficientCredits, itemFaultOf, type JobDraft } from '../submission';
import type { AdmittedItem, BatchContents } from './batch-admission';

/** What an account has room for. */
export interface AccountRoom {
  /** Its jobs that wait in the pool. */
  waiting: number;
  availableMicros: bigint;
  /** Whether a refusal may say how much that is. */
  isBalanceShown: boolean;
}

/** The jobs of a batch that are to be recorded, and why others are not: the first of those. */
export interface FittingBatch {
  accepted: AdmittedItem[];
  refused: BatchFault[];
}

/**
 * As many jobs as the account's queue and credits have room for, in their order; a first look, which the statement that records them
 * confirms.
 *
 * @throws Refusal `queue_full`, `insufficient_credits` or, where the account never has room for as many, `invalid_request`: when all
 * must be accepted and do not fit, or when none fits.
 */
export function fitBatch(
  items: readonly AdmittedItem[],
  { admission, faults }: Pick<BatchContents, 'admission' | 'faults'>,
  { queueLimit, holdMicros }: Pick<JobDraft, 'queueLimit' | 'holdMicros'>,
  { waiting, availableMicros, isBalanceShown }: AccountRoom,
): FittingBatch {
  const places = Math.max(0, queueLimit - waiting);
  const paid = holdMicros === 0n ? items.length : Number(availableMicros / holdMicros);
  const fitting = Math.min(items.length, places, paid);
  if (fitting === items.length) return { accepted: [...items], refused: [...faults] };
  const shownMicros = isBalanceShown ? availableMicros : null;
  const refusal =
    places <= paid ? queueRefusal(items.length, queueLimit) : creditRefusal(items.length, holdMicros, shownMicros);
  if (admission === 'all' || fitting === 0) throw refusal;
  const unfit = items.slice(fitting, fitting + ITEM_FAULTS).map(({ index }) => itemFaultOf(index, refusal));
  const refused = [...faults, ...unfit].sort((a, b) => a.index - b.index).slice(0, ITEM_FAULTS);
  return { accepted: items.slice(0, fitting), refused };
}

function queueRefusal(jobs: number, queueLimit: number): Refusal {
  if (jobs <= queueLimit) return accountQueueFull(queueLimit);
  const reason = `makes ${jobs} jobs, and this account may have ${queueLimit} waiting: send fewer, or have the limit raised`;
  return Refusal.ofFields([{ field: 'jobs', reason }]);
}

function creditRefusal(jobs: number, holdMicros: bigint, availableMicros: bigint | null): Refusal {
  return insufficientCredits(holdMicros * BigInt(jobs), availableMicros, `Running these ${jobs} jobs needs`);
}

import { Refusal, type BatchFault, type JobMetadata } from '@millrace/contracts';
import { ITEM_FAULTS, itemFaultOf } from '../examination';
import type { LabelRooms } from '../labels';
import { accountQueueFull, insufficientCredits, poolQueueFull, type JobDraft } from '../submission';
import { batchRefused, type AdmittedItem, type BatchContents } from './batch-contents';

/** What there is room for. */
export interface AccountRoom {
  /** Jobs that may still wait in the pool, of all accounts. */
  poolPlaces: number;
  /** Jobs of the account that wait in the pool. */
  waiting: number;
  availableMicros: bigint;
  /** Of the sub-key that submits; null: another key. */
  subKeyLabels: JobMetadata | null;
  /** What the rules of labels, and the caps of the account and the key, leave. Jobs are counted in it. */
  labels: LabelRooms;
}

/** What all jobs of a batch have in common. */
export type BatchTerms = Pick<JobDraft, 'queueLimit' | 'holdMicros' | 'apiKeyId'>;

/** The jobs of a batch that are to be recorded, and why others are not: the first of those. */
export interface FittingBatch {
  accepted: AdmittedItem[];
  refused: BatchFault[];
}

/**
 * Which jobs of a batch there is room for, each as if it were submitted alone after those before it: in the queues of the pool and the
 * account, in its credits, by the rules of its labels and the caps of its account and key. A first look, which the statement that
 * records them confirms.
 *
 * @throws Refusal when all must be accepted and do not fit, or when none fits: `queue_full`, `insufficient_credits`, `label_limit`,
 * `label_spend_limit` or `spend_cap`; `invalid_request` where the account never has room for as many; `batch_refused` where no job is left and
 * their reasons differ.
 */
export function fitBatch(
  items: readonly AdmittedItem[],
  { admission, faults, itemCount }: Pick<BatchContents, 'admission' | 'faults' | 'itemCount'>,
  terms: BatchTerms,
  room: AccountRoom,
): FittingBatch {
  if (admission === 'all') {
    assertAllFit(items, terms, room);
    return { accepted: [...items], refused: [...faults] };
  }
  const accepted: AdmittedItem[] = [];
  const unfit: BatchFault[] = [];
  let first: Refusal | null = null;
  const reasons = new Set(faults.map(({ code }) => code));
  for (const item of items) {
    const refusal = refusalOfItem(item, accepted.length, terms, room);
    if (refusal === null) {
      accepted.push(item);
      continue;
    }
    first ??= refusal;
    reasons.add(refusal.code);
    if (unfit.length < ITEM_FAULTS) unfit.push(itemFaultOf(item.index, refusal));
  }
  const refused = [...faults, ...unfit].sort((a, b) => a.index - b.index).slice(0, ITEM_FAULTS);
  if (accepted.length === 0 && first !== null) {
    throw reasons.size === 1 ? first : batchRefused(`All ${itemCount}`, refused, itemCount);
  }
  return { accepted, refused };
}

/** @param before jobs of the batch that fit. */
function refusalOfItem(
  { metadata }: AdmittedItem,
  before: number,
  { queueLimit, holdMicros, apiKeyId }: BatchTerms,
  { poolPlaces, waiting, availableMicros, subKeyLabels, labels }: AccountRoom,
): Refusal | null {
  if (before >= poolPlaces) return poolQueueFull();
  if (waiting + before >= queueLimit) return accountQueueFull(queueLimit);
  const left = availableMicros - holdMicros * BigInt(before);
  if (left < holdMicros) return insufficientCredits(holdMicros, left, subKeyLabels);
  return labels.take({ apiKeyId, metadata, holdMicros });
}

function assertAllFit(
  items: readonly AdmittedItem[],
  { queueLimit, holdMicros, apiKeyId }: BatchTerms,
  { poolPlaces, waiting, availableMicros, subKeyLabels, labels }: AccountRoom,
): void {
  const jobs = items.length;
  if (jobs > queueLimit) {
    const reason = `makes ${jobs} jobs, and this account may have ${queueLimit} waiting: send fewer, or have the limit raised`;
    throw Refusal.ofFields([{ field: 'jobs', reason }]);
  }
  if (jobs > poolPlaces) throw poolQueueFull();
  if (waiting + jobs > queueLimit) throw accountQueueFull(queueLimit);
  if (availableMicros < holdMicros * BigInt(jobs)) {
    throw creditRefusal(jobs, holdMicros, availableMicros, subKeyLabels);
  }
  for (const { metadata } of items) {
    const refusal = labels.take({ apiKeyId, metadata, holdMicros });
    if (refusal !== null) throw refusal;
  }
}

/** The holds of all jobs of a batch are taken together. @param labels of the sub-key that submits; null: another key. */
export function creditRefusal(
  jobs: number,
  holdMicros: bigint,
  availableMicros: bigint,
  labels: JobMetadata | null,
): Refusal {
  return insufficientCredits(holdMicros * BigInt(jobs), availableMicros, labels, `Running these ${jobs} jobs needs`);
}

import { UNDONE_TRIES, repeatUndone, type Database, type Statements } from '@millrace/database';
import { mostUsed, showsStanding, type SpendStanding } from '../spend';
import type { JobScope } from '../state';

/** Jobs of one statement: parts of it compare each job with each, so that 500 take twice as long each as 128 do. */
export const GROUP_JOBS = 128;
/** Graphs of one statement together, unless a single one is larger. */
export const GROUP_BYTES = 2_097_152;
/** How long a statement waits for a row that another one of the account has locked. */
export const LOCK_WAIT_MS = 5_000;
/** 10,000 jobs take some seconds, and more where other work keeps PostgreSQL busy. */
const TRANSACTION_TIMEOUT_MS = 60_000;
/** How long it may take to record a batch, beside the waits for a connection. */
export const LONGEST_RECORDING_MS = UNDONE_TRIES * TRANSACTION_TIMEOUT_MS;

/** Items in their order, as many together as one statement records. */
export function* groupsOf<Item extends { graphBytes: number }>(items: readonly Item[]): Generator<Item[]> {
  let group: Item[] = [];
  let bytes = 0;
  for (const item of items) {
    if (group.length === GROUP_JOBS || (group.length > 0 && bytes + item.graphBytes > GROUP_BYTES)) {
      yield group;
      [group, bytes] = [[], 0];
    }
    group.push(item);
    bytes += item.graphBytes;
  }
  if (group.length > 0) yield group;
}

/**
 * Record jobs in one transaction. Processes of the version before may lock in another order than this one, and all of a batch would be refused for it: so
 * it is repeated where PostgreSQL undid it.
 *
 * @param work writes through `tx` alone.
 */
export function recordInOne<T>(
  database: Pick<Database, 'transaction'>,
  work: (tx: Statements) => Promise<T>,
): Promise<T> {
  return repeatUndone(() => database.transaction(work, TRANSACTION_TIMEOUT_MS));
}

/** What the answer to recorded jobs says of caps of which half or more is used, as far as who submitted them may know. */
export function standingsFor(
  { labels }: Pick<JobScope, 'labels'>,
  standings: readonly SpendStanding[],
): SpendStanding[] {
  return mostUsed(standings.filter(showsStanding(labels !== null)));
}

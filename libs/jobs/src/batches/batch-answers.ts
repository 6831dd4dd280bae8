import { INSUFFICIENT_CREDITS, type LedgerStore } from '@millrace/billing';
import type { JobMetadata } from '@millrace/contracts';
import { RefusedError, type Statements } from '@millrace/database';
import { noteCapReached } from '../spend';
import { refusalOf, type JobDraft } from '../submission';
import { creditRefusal } from './batch-room';

/** What a refusal by the statement that records jobs of a batch means to its caller; every other error as it is. */
export async function refusalOfBatch(
  error: unknown,
  terms: JobDraft,
  { jobs, labels }: { jobs: number; labels: JobMetadata | null },
  ledger: Pick<LedgerStore, 'balance'>,
  statements: Statements,
): Promise<unknown> {
  await noteCapReached(statements, terms.accountId, error);
  if (!(error instanceof RefusedError) || error.reason !== INSUFFICIENT_CREDITS) return refusalOf(error, terms);
  const { availableMicros } = await ledger.balance(statements, terms.accountId);
  return creditRefusal(jobs, terms.holdMicros, availableMicros, labels);
}

import { RefusedError, type Statements } from '@millrace/database';
import { capOf, type Excess } from '../labels';
import { SpendCapStore } from './spend-cap.store';

/**
 * Have it warned of that a submission was refused for a cap: what jobs hold seldom comes to exactly all of one, so the refusal is the moment
 * at which it is used up. Never throws: the refusal is what the caller needs, and the next one notes it again.
 */
export async function noteCapReached(statements: Statements, accountId: string, error: unknown): Promise<void> {
  const cap = error instanceof RefusedError ? capOf(error.reason) : null;
  if (cap !== null) await noteCapsReached(statements, accountId, [cap]);
}

/** The same of caps for which jobs were refused before anything was written. */
export async function noteCapsReached(
  statements: Statements,
  accountId: string,
  caps: readonly Excess[],
): Promise<void> {
  for (const cap of caps) await new SpendCapStore().noteReached(statements, accountId, cap).catch(() => undefined);
}

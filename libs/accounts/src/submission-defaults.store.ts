import { Prisma } from '@prisma/client';
import type { SubmissionDefaults } from '@millrace/contracts';
import type { Statements } from '@millrace/database';

/** The SQL of how an account's jobs are made where a submission does not say it. */
export class SubmissionDefaultsStore {
  /** Null where there is no such account, or it has set nothing. */
  async find(statements: Statements, accountId: string): Promise<SubmissionDefaults | null> {
    const [row] = await statements.rows<{ defaults: SubmissionDefaults | null }>(Prisma.sql`
      SELECT submission_defaults AS defaults FROM accounts WHERE id = ${accountId}::uuid`);
    return row?.defaults ?? null;
  }

  async write(statements: Statements, accountId: string, defaults: SubmissionDefaults): Promise<void> {
    await statements.execute(Prisma.sql`
      UPDATE accounts SET submission_defaults = ${JSON.stringify(defaults)}::jsonb, updated_at = now()
      WHERE id = ${accountId}::uuid`);
  }
}

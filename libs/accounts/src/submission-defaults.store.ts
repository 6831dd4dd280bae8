import { Prisma } from '@prisma/client';
import type { SubmissionDefaults } from '@millrace/contracts';
import type { Statements } from '@millrace/database';

/** The SQL of how an account's jobs are made where a submission does not say it. */
export class SubmissionDefaultsStore {
  /**
   * One statement.
   *
   * @returns in the order of `accountIds`; null where there is no such account, or it has set nothing.
   */
  async findEach(statements: Statements, accountIds: readonly string[]): Promise<(SubmissionDefaults | null)[]> {
    const rows = await statements.rows<{ at: number; defaults: SubmissionDefaults | null }>(Prisma.sql`
      SELECT asked.at::int, a.submission_defaults AS defaults
      FROM unnest((SELECT ${[...accountIds]}::uuid[])) WITH ORDINALITY AS asked (id, at) JOIN accounts a ON a.id = asked.id`);
    const found = new Map(rows.map(({ at, defaults }) => [at, defaults]));
    return accountIds.map((_, index) => found.get(index + 1) ?? null);
  }

  async write(statements: Statements, accountId: string, defaults: SubmissionDefaults): Promise<void> {
    await statements.execute(Prisma.sql`
      UPDATE accounts SET submission_defaults = ${JSON.stringify(defaults)}::jsonb, updated_at = now()
      WHERE id = ${accountId}::uuid`);
  }
}

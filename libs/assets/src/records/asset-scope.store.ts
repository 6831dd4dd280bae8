import { Prisma } from '@prisma/client';
import type { JobMetadata } from '@millrace/contracts';

/** Whose assets a caller finds: those of an account, and of them, if labels are named, those that belong to these labels. */
export interface AssetScope {
  accountId: string;
  /** Of the sub-key that asks; null: all assets of the account. */
  labels: JobMetadata | null;
}

/** All assets of an account. */
export function wholeAccount(accountId: string): AssetScope {
  return { accountId, labels: null };
}

/**
 * The asset `a` is of the account; for a sub-key it is an upload made with its labels, or an output of a job that has them.
 */
export function isInScope({ accountId, labels }: AssetScope): Prisma.Sql {
  return withLabels(Prisma.sql`a.account_id = ${accountId}::uuid`, labels);
}

/**
 * The same of assets that are found by their ids: no index of accounts answers for it. To a planner that knows of few assets one costs no more than
 * the primary key, and the plan is kept while they come.
 */
export function isOneInScope({ accountId, labels }: AssetScope): Prisma.Sql {
  return withLabels(Prisma.sql`a.account_id IS NOT DISTINCT FROM ${accountId}::uuid`, labels);
}

function withLabels(isOfAccount: Prisma.Sql, labels: JobMetadata | null): Prisma.Sql {
  if (labels === null) return isOfAccount;
  const own = JSON.stringify(labels);
  return Prisma.sql`${isOfAccount} AND (a.labels @> ${own}::jsonb
    OR EXISTS (SELECT FROM jobs j WHERE j.id = a.job_id AND j.metadata @> ${own}::jsonb))`;
}

/** What of an account's uploads or outputs a sub-key lists, each by its index: it is found without what others have. */
export const isListed = {
  upload: ({ labels }: AssetScope): Prisma.Sql =>
    Prisma.sql`a.labels @> ${JSON.stringify(labels)}::jsonb AND a.labels IS NOT NULL`,
  output: ({ accountId, labels }: AssetScope): Prisma.Sql => Prisma.sql`a.job_id IN (
    SELECT j.id FROM jobs j
    WHERE j.account_id = ${accountId}::uuid AND j.metadata @> ${JSON.stringify(labels)}::jsonb AND j.metadata <> '{}'::jsonb)`,
};

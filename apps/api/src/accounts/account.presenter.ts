import type { z } from 'zod';
import type { Account, AccountChanges } from '@millrace/accounts';
import { ACCOUNT_LIMITS, type AccountLimitField, type AccountLimitName } from '@millrace/contracts';
import type { AccountUpdateSchema, AdminAccountSchema } from './account.schemas';

/** What an account looks like to operators. */
export function presentAccount(account: Account): z.output<typeof AdminAccountSchema> {
  const limits = ACCOUNT_LIMITS.map(({ name, field }) => [field, account[name]]);
  return {
    id: account.id,
    name: account.name,
    kind: account.kind,
    status: account.status,
    plan: account.plan,
    weight: account.weight,
    ...(Object.fromEntries(limits) as Record<AccountLimitField, number | null>),
    created_at: account.createdAt.toISOString(),
    updated_at: account.updatedAt.toISOString(),
    closed_at: account.closedAt?.toISOString() ?? null,
  };
}

/** The changes that a request asks for. */
export function accountChangesOf(body: z.output<typeof AccountUpdateSchema>): AccountChanges {
  const { name, plan, status, weight } = body;
  const limits = ACCOUNT_LIMITS.map((limit) => [limit.name, body[limit.field]]);
  return {
    name,
    plan,
    status,
    weight,
    ...(Object.fromEntries(limits) as Partial<Record<AccountLimitName, number | null>>),
  };
}

import { defineEndpoint, recordId } from '../endpoints';
import { BalanceRebuildSchema, RebuildRequestSchema } from './balance-rebuild';
import { CreditAdjustmentSchema } from './credit-adjustment.schemas';
import { BalanceSchema } from './credits.schemas';

const path = '/admin/v1/accounts/{id}/credits';
const common = { path, params: { id: recordId('account') }, tag: 'credits' } as const;

export const getAccountCredits = defineEndpoint({
  ...common,
  id: 'getAccountCredits',
  access: { by: 'operator', role: 'viewer' },
  method: 'get',
  summary: "Read an account's balance",
  description: 'What it can spend, and what is held for its jobs.',
  answers: { 200: { description: 'The balance.', schema: BalanceSchema } },
});

export const adjustCredits = defineEndpoint({
  ...common,
  id: 'adjustCredits',
  access: { by: 'operator', role: 'finance' },
  method: 'post',
  summary: 'Grant an account credits, or take some back',
  description: 'Spent and held credits are never taken back, nor bought ones: of a grant, what is left of it.',
  idempotencyKey: 'accepts-repeats',
  body: CreditAdjustmentSchema,
  answers: { 201: { description: 'The balance afterwards.', schema: BalanceSchema } },
  errors: ['idempotency_key_reuse'],
});

export const rebuildBalance = defineEndpoint({
  ...common,
  path: `${path}/rebuild`,
  id: 'rebuildBalance',
  access: { by: 'operator', role: 'finance', reason: true },
  method: 'post',
  summary: 'Rebuild the balance of an account from its ledger',
  description:
    'Makes available and held credits and the lots what the entries of the ledger sum to, and ends holds that jobs have left behind. For an account of which ' +
    'the audit finds that they differ; where they agree, it changes nothing. Refused (422) while the ledger contradicts itself or lacks ends of holds. Jobs of the account wait while it does so.',
  body: RebuildRequestSchema,
  answers: { 200: { description: 'What it changed, or would change.', schema: BalanceRebuildSchema } },
});

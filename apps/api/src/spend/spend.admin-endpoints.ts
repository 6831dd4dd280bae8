import { defineEndpoint, recordId } from '../endpoints';
import { SpendCapListSchema, SpendCapPutSchema, SpendCapSchema } from './spend.schemas';

const params = { id: recordId('account') };

export const getAccountSpend = defineEndpoint({
  id: 'getAccountSpend',
  method: 'get',
  path: '/admin/v1/accounts/{id}/spend',
  params,
  tag: 'credits',
  access: { by: 'operator', role: 'viewer' },
  summary: "Read an account's spend caps",
  description: 'What its jobs may cost, by its own caps, and what is used of it.',
  answers: { 200: { description: 'The caps.', schema: SpendCapListSchema } },
});

export const putAccountSpendCap = defineEndpoint({
  id: 'putAccountSpendCap',
  method: 'put',
  path: '/admin/v1/accounts/{id}/spend/caps',
  params,
  tag: 'credits',
  access: { by: 'operator', role: 'finance' },
  summary: 'Set or change a spend cap of an account',
  description: 'As the account does itself, which may change it again.',
  body: SpendCapPutSchema,
  example: { scope: 'account', monthly_micros: 500_000_000, monthly_at_cap: 'finish' },
  answers: { 200: { description: 'The cap as it is now.', schema: SpendCapSchema } },
});

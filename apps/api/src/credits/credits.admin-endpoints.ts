import { defineEndpoint, recordId } from '../endpoints';
import { CreditAdjustmentSchema } from './credit-adjustment.schemas';
import { BalanceSchema } from './credits.schemas';

export const adjustCredits = defineEndpoint({
  id: 'adjustCredits',
  method: 'post',
  path: '/admin/v1/accounts/{id}/credits',
  params: { id: recordId('account') },
  tag: 'credits',
  access: { by: 'admin_token' },
  summary: 'Grant an account credits, or take some back',
  description: 'Spent and held credits are never taken back.',
  idempotencyKey: 'accepts-repeats',
  body: CreditAdjustmentSchema,
  answers: { 201: { description: 'The balance afterwards.', schema: BalanceSchema } },
  errors: ['idempotency_key_reuse'],
});

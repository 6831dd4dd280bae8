import { defineEndpoint, recordId } from '../endpoints';
import { SpendCapListSchema, SpendCapPutSchema, SpendCapSchema } from './spend.schemas';

/** Who is trusted with money: a cap lets jobs spend, and keeps them from it. `assertSetsCaps` leaves out keys that only buy. */
const OF_CAPS = { by: 'api_key', scope: 'credits:write' } as const;

export const listSpendCaps = defineEndpoint({
  id: 'listSpendCaps',
  method: 'get',
  path: '/platform/v1/spend',
  tag: 'credits',
  access: { by: 'api_key', scope: 'usage:read' },
  summary: 'List spend caps',
  description:
    'What the jobs of the account, of its keys and of its labels may cost in a day and a month, and what is used of it.',
  answers: { 200: { description: 'The caps.', schema: SpendCapListSchema } },
});

export const putSpendCap = defineEndpoint({
  id: 'putSpendCap',
  method: 'put',
  path: '/platform/v1/spend/caps',
  tag: 'credits',
  access: OF_CAPS,
  summary: 'Set or change a spend cap',
  description:
    'What the jobs of the account, or of a key, may cost in a day and a month. It counts what was charged since these began, and what jobs ' +
    'hold now. A submission beyond it is refused with 402 `spend_cap`; at 50, 80 and 100 percent the webhook event `spend.warning` is sent, and ' +
    'the answers of submissions have `Millrace-Spend-Warning`. Caps of labels are label rules. A key with `credits:write` and without `keys:admin` ' +
    'sets none: members do who have the scope and are signed in.',
  body: SpendCapPutSchema,
  example: { scope: 'account', daily_micros: 50_000_000, daily_at_cap: 'stop' },
  answers: { 200: { description: 'The cap as it is now.', schema: SpendCapSchema } },
});

export const deleteSpendCap = defineEndpoint({
  id: 'deleteSpendCap',
  method: 'delete',
  path: '/platform/v1/spend/caps/{id}',
  params: { id: recordId('spend cap') },
  tag: 'credits',
  access: OF_CAPS,
  summary: 'Delete a spend cap',
  description: 'It no longer applies, to running jobs neither. Who may is the same as for setting it.',
  answers: { 204: { description: 'The cap is deleted.' } },
});

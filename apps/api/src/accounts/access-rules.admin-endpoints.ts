import { defineEndpoint, recordId } from '../endpoints';
import { AccessRulesSchema, AccessRulesUpdateSchema } from './access-rules.schemas';

const common = {
  tag: 'accounts',
  path: '/admin/v1/accounts/{id}/access',
  params: { id: recordId('account') },
} as const;

export const getAccountAccessRules = defineEndpoint({
  ...common,
  id: 'getAccountAccessRules',
  access: { by: 'operator', role: 'viewer' },
  method: 'get',
  summary: "Read from where an account's keys may be used",
  description: 'The allow-list of the account, and the maximum age of its keys.',
  answers: { 200: { description: 'The rules.', schema: AccessRulesSchema } },
});

export const updateAccountAccessRules = defineEndpoint({
  ...common,
  id: 'updateAccountAccessRules',
  access: { by: 'operator', role: 'operator', reason: true },
  method: 'patch',
  summary: "Change from where an account's keys may be used",
  description: 'For an account that locked itself out, too. Keys past a new maximum age end at once.',
  body: AccessRulesUpdateSchema,
  example: { allowed_addresses: [] },
  answers: { 200: { description: 'The rules as they are now.', schema: AccessRulesSchema } },
});

import { defineEndpoint } from '../endpoints';
import { AccessRulesSchema, AccessRulesUpdateSchema } from './access-rules.schemas';

const common = {
  tag: 'account',
  path: '/platform/v1/account/access',
  access: { by: 'api_key', scope: 'keys:admin' },
} as const;

export const getAccessRules = defineEndpoint({
  ...common,
  id: 'getAccessRules',
  method: 'get',
  summary: 'Read from where keys may be used',
  description: 'The allow-list of the account, and the maximum age of its keys.',
  answers: { 200: { description: 'The rules.', schema: AccessRulesSchema } },
});

export const updateAccessRules = defineEndpoint({
  ...common,
  id: 'updateAccessRules',
  method: 'patch',
  summary: 'Change from where keys may be used',
  description:
    'Holds everywhere within 5 seconds, for all keys and sessions of the account. Keys past a new maximum age end at once, others when they reach it; ' +
    'a rotated key begins at zero. Refused where it would lock out the key that asks: the list must contain the address that you call from. ' +
    'Only owners do this, and API keys with all scopes.',
  body: AccessRulesUpdateSchema,
  example: { allowed_addresses: ['203.0.113.0/24', '2001:db8::/32'], key_max_age_seconds: 7_776_000 },
  answers: { 200: { description: 'The rules as they are now.', schema: AccessRulesSchema } },
});

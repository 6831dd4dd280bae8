import { defineEndpoint } from '../endpoints';
import { AccountOverviewSchema } from './account-overview.schemas';

export const getAccount = defineEndpoint({
  id: 'getAccount',
  method: 'get',
  path: '/platform/v1/account',
  tag: 'account',
  access: { by: 'api_key', scope: 'usage:read' },
  summary: 'Read the account',
  description: 'The account of this key, its limits, and how much of them it uses now.',
  answers: { 200: { description: 'The account.', schema: AccountOverviewSchema } },
});

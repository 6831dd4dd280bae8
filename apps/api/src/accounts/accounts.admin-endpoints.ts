import { z } from 'zod';
import { defineEndpoint, pageQuery, recordId } from '../endpoints';
import {
  AccountCreateSchema,
  AccountUpdateSchema,
  AdminAccountPageSchema,
  AdminAccountSchema,
} from './account.schemas';

const common = { tag: 'accounts' } as const;
const params = { id: recordId('account') };

export const createAccount = defineEndpoint({
  ...common,
  id: 'createAccount',
  access: { by: 'operator', role: 'operator' },
  method: 'post',
  path: '/admin/v1/accounts',
  creates: '/admin/v1/accounts/{id}',
  summary: 'Create an account',
  description: 'A new account has no API key and no credits.',
  body: AccountCreateSchema,
  answers: { 201: { description: 'The account was created.', schema: AdminAccountSchema } },
});

export const listAccounts = defineEndpoint({
  ...common,
  id: 'listAccounts',
  access: { by: 'operator', role: 'viewer' },
  method: 'get',
  path: '/admin/v1/accounts',
  summary: 'List accounts',
  description: 'All accounts, newest first.',
  query: z.object({
    ...pageQuery,
    name: z.string().max(200).optional().meta({ description: 'Only accounts with this in their name, in any case.' }),
  }),
  answers: { 200: { description: 'A page of accounts.', schema: AdminAccountPageSchema } },
  errors: ['invalid_cursor'],
});

export const getAccount = defineEndpoint({
  ...common,
  id: 'getAccount',
  access: { by: 'operator', role: 'viewer' },
  method: 'get',
  path: '/admin/v1/accounts/{id}',
  params,
  summary: 'Read an account',
  description: 'Its state and its own limits.',
  answers: { 200: { description: 'The account.', schema: AdminAccountSchema } },
});

export const updateAccount = defineEndpoint({
  ...common,
  id: 'updateAccount',
  access: { by: 'operator', role: 'operator', reason: true },
  method: 'patch',
  path: '/admin/v1/accounts/{id}',
  params,
  summary: 'Change an account',
  description: 'Limits, plan, name, and whether it is suspended. Every API process applies it within 5 seconds.',
  body: AccountUpdateSchema,
  answers: { 200: { description: 'The account as it is now.', schema: AdminAccountSchema } },
});

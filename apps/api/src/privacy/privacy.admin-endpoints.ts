import { z } from 'zod';
import { defineEndpoint, pageQuery, recordId } from '../endpoints';
import { ErasurePageSchema, ErasureRequestSchema, ErasureSchema } from './erasure.schemas';
import { archive } from './privacy.endpoints';

const common = { tag: 'privacy' } as const;
const asks = { ...common, access: { by: 'operator', role: 'admin', reason: true } } as const;
const reads = { ...common, access: { by: 'operator', role: 'viewer' }, method: 'get' } as const;
const account = { id: recordId('account') };

export const exportAnAccount = defineEndpoint({
  ...asks,
  ...archive,
  id: 'exportAnAccount',
  readsCustomer: true,
  method: 'get',
  path: '/admin/v1/accounts/{id}/export',
  params: account,
  summary: 'Read all that an account has',
  errors: ['rate_limited'],
});

export const requestAnErasure = defineEndpoint({
  ...asks,
  id: 'requestAnErasure',
  method: 'post',
  path: '/admin/v1/accounts/{id}/erasures',
  params: account,
  creates: '/admin/v1/erasures/{id}',
  summary: 'Ask for an erasure',
  description:
    'A job of the account, all that carries a label, or the account itself is erased for good, as the account could ask for it. Who asked, and ' +
    'why, stays in the audit log: name no person in the reason.',
  body: ErasureRequestSchema,
  example: { subject: 'label', label: 'user', value: 'ada' },
  answers: { 202: { description: 'It was asked for, now or before.', schema: ErasureSchema } },
});

export const listAllErasures = defineEndpoint({
  ...reads,
  id: 'listAllErasures',
  path: '/admin/v1/erasures',
  summary: 'List erasures',
  description: 'Of all accounts, newest first.',
  query: z.object(pageQuery),
  answers: { 200: { description: 'A page of erasures.', schema: ErasurePageSchema } },
  errors: ['invalid_cursor'],
});

export const getAnErasure = defineEndpoint({
  ...reads,
  id: 'getAnErasure',
  path: '/admin/v1/erasures/{id}',
  params: { id: recordId('erasure') },
  summary: 'Read an erasure',
  description: 'How far it is.',
  answers: { 200: { description: 'The erasure.', schema: ErasureSchema } },
});

import { z } from 'zod';
import { TimestampSchema } from '@millrace/contracts';
import { defineEndpoint, expiry, pathText, recordId, recordName } from '../endpoints';

const common = { tag: 'pools' } as const;
const changes = { ...common, access: { by: 'operator', role: 'admin' } } as const;
const pool = pathText('Name of the pool: 1 to 64 letters, digits, dashes and underscores.', /^[A-Za-z0-9_-]{1,64}$/);

const tokenShape = {
  id: z.uuid(),
  pool: z.string(),
  name: z.string(),
  created_at: TimestampSchema,
  last_used_at: TimestampSchema.nullable().meta({ description: 'Up to a minute late.' }),
  expires_at: TimestampSchema.nullable().meta({ description: 'Null: never.' }),
  revoked_at: TimestampSchema.nullable(),
};
const WorkerTokenSchema = z
  .object(tokenShape)
  .meta({ id: 'WorkerToken', description: 'A worker token as it is stored: the token itself is not kept.' });
const IssuedWorkerTokenSchema = z
  .object({ ...tokenShape, token: z.string().meta({ description: 'The token itself: shown now and never again.' }) })
  .meta({ id: 'IssuedWorkerToken', description: 'A newly created worker token.' });
const WorkerTokenListSchema = z
  .object({ tokens: z.array(WorkerTokenSchema) })
  .meta({ id: 'WorkerTokenList', description: 'Tokens of the pool, newest first.' });

const WorkerTokenCreateSchema = z
  .object({
    name: recordName.meta({ description: 'What it is for, e.g. the machine that has it.' }),
    expires_at: expiry.meta({ description: 'When it stops working; null or absent means never.' }),
  })
  .meta({ id: 'WorkerTokenCreate', description: 'A new worker token.' });

export const issueWorkerToken = defineEndpoint({
  ...changes,
  id: 'issueWorkerToken',
  method: 'post',
  path: '/admin/v1/pools/{pool}/tokens',
  params: { pool },
  summary: 'Create a worker token',
  description:
    'With it workers outside the cluster join the pool through the gateway. They run jobs of every account that uses the pool, and ' +
    'decide what it offers. Only this answer shows the token itself.',
  body: WorkerTokenCreateSchema,
  answers: { 201: { description: 'The token was created.', schema: IssuedWorkerTokenSchema } },
  errors: ['not_found'],
  uncached: true,
});

export const listWorkerTokens = defineEndpoint({
  ...common,
  access: { by: 'operator', role: 'viewer' },
  id: 'listWorkerTokens',
  method: 'get',
  path: '/admin/v1/pools/{pool}/tokens',
  params: { pool },
  summary: "List a pool's worker tokens",
  description: 'Also those that have expired or were revoked.',
  answers: { 200: { description: 'The tokens.', schema: WorkerTokenListSchema } },
  errors: ['not_found'],
});

export const revokeWorkerToken = defineEndpoint({
  ...changes,
  id: 'revokeWorkerToken',
  method: 'delete',
  path: '/admin/v1/pools/{pool}/tokens/{id}',
  params: { pool, id: recordId('worker token') },
  summary: 'Revoke a worker token',
  description:
    'Its workers are refused from their next request on; the jobs that they run are run again elsewhere when their leases run ' +
    'out. Revoking a revoked token changes nothing.',
  answers: { 204: { description: 'The token is revoked.' } },
});

import { z } from 'zod';
import { OPERATOR_ROLES, TimestampSchema } from '@millrace/contracts';
import { defineEndpoint, recordId, time } from '../endpoints';

const common = { tag: 'operators' } as const;
const READS = { by: 'operator', role: 'viewer' } as const;
const ACTS = { by: 'operator', role: 'admin', reason: true } as const;
const DEFAULT_DAYS = 90;
const MOST_DAYS = 366;
const DAY_MS = 86_400_000;

const ROLE_TEXT =
  '`viewer` reads; `operator` also acts on accounts, keys, jobs, deployments and workers; `finance` also grants and takes credits; ' +
  '`admin` does everything, and alone makes operator tokens.';

/** Stands in the audit log as `token:<name>`. */
const tokenName = z.string().regex(/^[a-z0-9][a-z0-9._-]{1,62}$/, {
  error: 'must be 2 to 63 small letters, digits, ".", "_" or "-", and begin with a letter or digit',
});

const fields = {
  id: z.uuid(),
  name: z.string().meta({ description: 'What the audit log calls it, after `token:`.' }),
  role: z.enum(OPERATOR_ROLES).meta({ description: ROLE_TEXT }),
  created_by: z.string().meta({ description: 'The operator who made it.' }),
  created_at: TimestampSchema,
  expires_at: TimestampSchema,
};

const OperatorTokenSchema = z
  .object({
    ...fields,
    last_used_at: TimestampSchema.nullable().meta({ description: 'To the minute; null: never.' }),
    revoked_at: TimestampSchema.nullable(),
  })
  .meta({ id: 'OperatorToken', description: 'A token of an operator.' });

const IssuedOperatorTokenSchema = z
  .object({ ...fields, token: z.string().meta({ description: 'The token itself. It is shown now and never again.' }) })
  .meta({ id: 'IssuedOperatorToken', description: 'A token just made.' });

const OperatorTokenListSchema = z
  .object({ tokens: z.array(OperatorTokenSchema) })
  .meta({ id: 'OperatorTokenList', description: 'Operator tokens, newest first.' });

const OperatorTokenCreateSchema = z
  .object({
    name: tokenName.meta({
      description:
        'Who or what holds it, such as `billing-export`. Given once: no later token has it, not even when this one is gone.',
    }),
    role: z.enum(OPERATOR_ROLES).meta({ description: ROLE_TEXT }),
    expires_at: time
      .optional()
      .transform((at) => at ?? new Date(Date.now() + DEFAULT_DAYS * DAY_MS))
      .refine((at) => at.getTime() > Date.now(), 'must be in the future')
      .refine((at) => at.getTime() <= Date.now() + MOST_DAYS * DAY_MS, `must be within ${MOST_DAYS} days`)
      .meta({ description: `When it stops working: in ${DEFAULT_DAYS} days by default, ${MOST_DAYS} at most.` }),
  })
  .meta({ id: 'OperatorTokenCreate', description: 'A token to be made.' });

export const createOperatorToken = defineEndpoint({
  ...common,
  id: 'createOperatorToken',
  access: ACTS,
  method: 'post',
  path: '/admin/v1/operator-tokens',
  summary: 'Create an operator token',
  description: 'For a machine, or a person without a sign-in. Only this answer shows the token itself.',
  body: OperatorTokenCreateSchema,
  answers: { 201: { description: 'The token was created.', schema: IssuedOperatorTokenSchema } },
  uncached: true,
});

export const listOperatorTokens = defineEndpoint({
  ...common,
  id: 'listOperatorTokens',
  access: READS,
  method: 'get',
  path: '/admin/v1/operator-tokens',
  summary: 'List operator tokens',
  description: 'The latest thousand, newest first, with those that no longer work.',
  answers: { 200: { description: 'The tokens.', schema: OperatorTokenListSchema } },
});

export const revokeOperatorToken = defineEndpoint({
  ...common,
  id: 'revokeOperatorToken',
  access: ACTS,
  method: 'delete',
  path: '/admin/v1/operator-tokens/{id}',
  params: { id: recordId('operator token') },
  summary: 'Revoke an operator token',
  description:
    'It is refused at once, and so are the sessions that were opened with it. Revoking a revoked one changes nothing.',
  answers: { 204: { description: 'The token is revoked.' } },
});

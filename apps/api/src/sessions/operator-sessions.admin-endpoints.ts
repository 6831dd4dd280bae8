import { z } from 'zod';
import { OPERATOR_ROLES, TimestampSchema } from '@millrace/contracts';
import { defineEndpoint, type AnswerHeader } from '../endpoints';

const common = { tag: 'sessions', access: { by: 'operator', role: 'viewer' } } as const;
const SET_COOKIE: AnswerHeader = {
  description: 'The cookie `millrace_operator`, which no script can read.',
  required: true,
  schema: { type: 'string' },
};

const OperatorSessionSchema = z
  .object({
    actor: z
      .string()
      .meta({ description: 'Who it is, as the audit log names them: `admin` for the shared admin token.' }),
    role: z.enum(OPERATOR_ROLES).meta({ description: 'What they may do.' }),
    expires_at: TimestampSchema.nullable().meta({
      description: 'When the session ends; null for a request with a token itself.',
    }),
  })
  .meta({ id: 'OperatorSession', description: "An operator who is signed in to the operators' console." });

export const signInOperator = defineEndpoint({
  ...common,
  id: 'signInOperator',
  method: 'post',
  path: '/admin/v1/sessions',
  summary: "Sign in to the operators' console",
  description:
    'Exchanges the admin token, or an operator token, for a cookie that is worth the same for an hour. A request with that cookie and without an ' +
    'Authorization header must carry `Millrace-Console: 1`. A session makes no other session.',
  answers: {
    201: { description: 'Signed in.', schema: OperatorSessionSchema, headers: { 'Set-Cookie': SET_COOKIE } },
  },
  uncached: true,
});

export const getOperatorSession = defineEndpoint({
  ...common,
  id: 'getOperatorSession',
  method: 'get',
  path: '/admin/v1/session',
  summary: 'How long an operator is signed in',
  description: 'The session of the cookie.',
  answers: { 200: { description: 'The session.', schema: OperatorSessionSchema } },
  uncached: true,
});

export const signOutOperator = defineEndpoint({
  ...common,
  id: 'signOutOperator',
  method: 'delete',
  path: '/admin/v1/session',
  summary: "Sign out of the operators' console",
  description: 'The session of the cookie is refused from now on. Without one nothing changes.',
  answers: { 204: { description: 'Signed out.', headers: { 'Set-Cookie': SET_COOKIE } } },
});

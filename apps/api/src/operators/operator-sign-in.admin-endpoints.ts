import { z } from 'zod';
import { defineEndpoint, type AnswerHeader } from '../endpoints';
import { CALLBACK_PATH } from './identity-provider';

const common = { tag: 'sessions', access: { by: 'nothing' } } as const;
const LOCATION: AnswerHeader = { description: 'Where to go on.', required: true, schema: { type: 'string' } };

export const listSignInWays = defineEndpoint({
  ...common,
  id: 'listSignInWays',
  method: 'get',
  path: '/admin/v1/sign-in/ways',
  summary: 'How operators sign in',
  description: 'Whether there is a provider by which they do; an operator token always works.',
  answers: {
    200: {
      description: 'The ways.',
      schema: z
        .object({ provider: z.boolean().meta({ description: 'True: `beginOperatorSignIn` leads to a provider.' }) })
        .meta({ id: 'SignInWays', description: 'How operators sign in.' }),
    },
  },
});

export const beginOperatorSignIn = defineEndpoint({
  ...common,
  id: 'beginOperatorSignIn',
  method: 'get',
  path: '/admin/v1/sign-in',
  summary: 'Sign in by the provider',
  description: 'Sends a browser to the OpenID Connect provider of the service, which sends it back.',
  answers: {
    302: {
      description: 'To the provider, or back to the console, which says what failed.',
      headers: { Location: LOCATION },
    },
  },
  errors: ['not_found'],
  raw: true,
});

export const finishOperatorSignIn = defineEndpoint({
  ...common,
  id: 'finishOperatorSignIn',
  method: 'get',
  path: CALLBACK_PATH,
  summary: 'Come back from the provider',
  description:
    'The provider sends a browser here. With what it says the browser gets the cookie of a session of an hour, whose role follows from ' +
    'the groups of who signed in (`MILLRACE_OPERATORS_ROLES`).',
  answers: { 302: { description: 'To the console, which says what failed.', headers: { Location: LOCATION } } },
  errors: ['not_found'],
  raw: true,
});

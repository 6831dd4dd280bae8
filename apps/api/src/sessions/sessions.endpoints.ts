import { defineEndpoint, type AnswerHeader } from '../endpoints';
import { SessionSchema, SignInSchema } from './session.schemas';

const tag = 'sessions';
const SET_COOKIE: AnswerHeader = {
  description: 'The cookie `millrace_session`, which no script can read.',
  required: true,
  schema: { type: 'string' },
};

export const signIn = defineEndpoint({
  id: 'signIn',
  method: 'post',
  path: '/platform/v1/sessions',
  tag,
  access: { by: 'nothing' },
  summary: 'Sign in to the console',
  description:
    'Exchanges an API key, or a sign-in link, for a cookie. A request with that cookie and without an Authorization header is ' +
    "the key's, with its scopes and limits. If its method changes something, it must carry `Millrace-Console: 1`. Where an " +
    'open self-hosted surface asks for no credential, nothing is exchanged.',
  body: SignInSchema,
  answers: {
    201: { description: 'Signed in.', schema: SessionSchema, headers: { 'Set-Cookie': SET_COOKIE } },
  },
  uncached: true,
  errors: ['unauthorized', 'forbidden'],
});

export const getSession = defineEndpoint({
  id: 'getSession',
  method: 'get',
  path: '/platform/v1/session',
  tag,
  access: { by: 'session' },
  summary: 'Who is signed in',
  description: 'The session of the cookie.',
  answers: { 200: { description: 'The session.', schema: SessionSchema } },
  uncached: true,
});

export const signOut = defineEndpoint({
  id: 'signOut',
  method: 'delete',
  path: '/platform/v1/session',
  tag,
  access: { by: 'session' },
  summary: 'Sign out',
  description: 'The session is refused everywhere within 5 seconds, and its event streams end.',
  answers: { 204: { description: 'Signed out.', headers: { 'Set-Cookie': SET_COOKIE } } },
});

export const signOutEverywhere = defineEndpoint({
  id: 'signOutEverywhere',
  method: 'delete',
  path: '/platform/v1/sessions',
  tag,
  access: { by: 'session' },
  summary: 'Sign out everywhere',
  description: 'Ends all sessions of the account, this one included. Its API keys go on.',
  answers: { 204: { description: 'All are signed out.', headers: { 'Set-Cookie': SET_COOKIE } } },
});

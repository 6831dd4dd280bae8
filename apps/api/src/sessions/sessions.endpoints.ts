import { defineEndpoint, recordId, type AnswerHeader } from '../endpoints';
import { SessionListSchema, SessionSchema, SignInLookSchema, SignInOfferSchema, SignInSchema } from './session.schemas';

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
    'Exchanges an API key, a sign-in link or an invitation for a cookie. A request with that cookie and without an Authorization header is ' +
    "the key's, with its scopes and limits. If its method changes something, it must carry `Millrace-Console: 1`. Where an " +
    'open self-hosted surface asks for no credential, nothing is exchanged. Where nothing was sent and something is asked for, ' +
    '`details.credential` of the 401 says what: `api_key`, or the one `token` of a self-hosted surface.',
  body: SignInSchema,
  answers: {
    201: { description: 'Signed in.', schema: SessionSchema, headers: { 'Set-Cookie': SET_COOKIE } },
  },
  uncached: true,
  errors: ['unauthorized', 'forbidden'],
});

export const lookAtSignIn = defineEndpoint({
  id: 'lookAtSignIn',
  method: 'post',
  path: '/platform/v1/sessions/offers',
  tag,
  access: { by: 'nothing' },
  summary: 'What a link or an invitation signs in to',
  description:
    'It still counts afterwards. The console asks before it signs in with one that this browser did not ask for.',
  body: SignInLookSchema,
  answers: { 200: { description: 'What it signs in to.', schema: SignInOfferSchema } },
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
  description:
    'Ends all that you can list, this one included: all of the account for an owner, and who signed in with a key that has all scopes; ' +
    'else your own. API keys go on.',
  answers: { 204: { description: 'All are signed out.', headers: { 'Set-Cookie': SET_COOKIE } } },
});

export const listSessions = defineEndpoint({
  id: 'listSessions',
  method: 'get',
  path: '/platform/v1/sessions',
  tag,
  access: { by: 'session' },
  summary: 'List sessions',
  description:
    'All of the account for an owner, and who signed in with a key that has all scopes; else your own. Newest first.',
  answers: { 200: { description: 'The sessions.', schema: SessionListSchema } },
  uncached: true,
});

export const endSession = defineEndpoint({
  id: 'endSession',
  method: 'delete',
  path: '/platform/v1/sessions/{id}',
  tag,
  access: { by: 'session' },
  params: { id: recordId('session') },
  summary: 'End a session',
  description: 'One that you can list. It is refused everywhere within 5 seconds, and its event streams end.',
  answers: { 204: { description: 'The session has ended.' } },
});

export const endOtherSessions = defineEndpoint({
  id: 'endOtherSessions',
  method: 'post',
  path: '/platform/v1/sessions/end-others',
  tag,
  access: { by: 'session' },
  summary: 'End all other sessions',
  description: 'All that you can list but this one.',
  answers: { 204: { description: 'They have ended.' } },
});

export { Callers } from './callers';
export { DemoCallers, demoLimits } from './demo-callers';
export { assertOwnPage, assertSentByConsole } from './own-page';
export { SELF_HOSTED_ACCOUNT, SELF_HOSTED_SCOPES } from './self-hosted-caller';
export { SessionCallers } from './session-callers';
export {
  OPERATOR_COOKIE,
  SESSION_COOKIE,
  clearSessionCookie,
  sessionCookieOf,
  setSessionCookie,
  type SessionCookie,
} from './session-cookie';

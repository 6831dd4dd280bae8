export { Callers } from './callers';
export { DemoCallers, demoLimits } from './demo-callers';
export { assertOwnPage } from './own-page';
export { SELF_HOSTED_ACCOUNT, SELF_HOSTED_SCOPES } from './self-hosted-caller';
export { SessionCallers } from './session-callers';
export { SESSION_COOKIE, clearSessionCookie, setSessionCookie } from './session-cookie';

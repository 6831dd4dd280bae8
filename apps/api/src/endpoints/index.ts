export { type Access } from './access';
export { actorOf } from './actor';
export {
  OPERATOR_COOKIE,
  SELF_HOSTED_ACCOUNT,
  SELF_HOSTED_SCOPES,
  SESSION_COOKIE,
  SessionCallers,
  assertOwnPage,
  clearSessionCookie,
  demoLimits,
  sessionCookieOf,
  setSessionCookie,
  type SessionCookie,
} from './callers';
export { type Answer, type AnswerHeader, type DescribedParameter, type JsonSchema } from './described';
export {
  METHODS,
  defineEndpoint,
  type AnswerOf,
  type Endpoint,
  type ErrorName,
  type InputOf,
  type Method,
} from './endpoint';
export { claimedKey } from './idempotency-key';
export { EndpointsModule } from './endpoints.module';
export { EMAIL, dayOrTime, expiry, recordName, time } from './fields';
export { pageQuery, pageSchema, presentPage } from './page';
export { pathParametersOf, pathText, recordId, uncheckedPathText } from './path-parameters';
export { REASON_HEADER } from './reason-header';
export { RETRY_HEADER, retryPolicyOf } from './retry-header';
export { REUSE_ANSWER, REUSE_HEADER, assertNoReuse, reuseAnswer, reuseOf } from './reuse-header';
export { SPEND_LIMIT_HEADER, spendLimitOf } from './spend-limit-header';
export { SPEND_WARNING, spendWarning } from './spend-warning-header';
export { RequestLimits } from './request-limits';
export { equalTexts } from './equal-texts';
export { endpointsOf, endpointsOfModule } from './served-endpoints';
export { Serves } from './serves';
export { signedQuery } from './signed-query';
export { type Visitor } from './visitor';

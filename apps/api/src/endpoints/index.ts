export { type Access } from './access';
export { actorOf } from './actor';
export { demoLimits } from './demo-callers';
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
export { EndpointsModule } from './endpoints.module';
export { expiry, recordName, time } from './fields';
export { pageQuery, pageSchema, presentPage } from './page';
export { pathParametersOf, pathText, recordId, uncheckedPathText } from './path-parameters';
export { assertOwnPage } from './own-page';
export { RequestLimits } from './request-limits';
export { SELF_HOSTED_ACCOUNT, SELF_HOSTED_SCOPES } from './self-hosted-caller';
export { equalTexts } from './equal-texts';
export { endpointsOf, endpointsOfModule } from './served-endpoints';
export { Serves } from './serves';
export { SessionCallers } from './session-callers';
export { SESSION_COOKIE, clearSessionCookie, setSessionCookie } from './session-cookie';
export { signedQuery } from './signed-query';
export { type Visitor } from './visitor';

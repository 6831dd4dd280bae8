export {
  type ClaimedAttempt,
  type Fence,
  type JobFailure,
  type JobLog,
  type JobLogRecord,
  type JobOutputRecord,
  type JobRecord,
  type JobScope,
  type JobTransitionRecord,
  type MovedJob,
  type NodeTiming,
} from './job';
export {
  type EndGuard,
  type ReleaseGuard,
  deliveryOfOne,
  holdsFence,
  isInScope,
  isInScopeAsked,
  isLongOvertime,
  isOvertime,
  isPauseOver,
  leaseIsOver,
  mayEnd,
  mayRelease,
  mayRetry,
} from './job-guards.store';
export { TRANSITIONS, type Delivery } from './job-state';

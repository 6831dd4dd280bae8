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
  isLongOvertime,
  isOvertime,
  leaseIsOver,
  mayEnd,
  mayRelease,
} from './job-guards.store';
export { TRANSITIONS, type Delivery } from './job-state';

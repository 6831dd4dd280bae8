export { boundedFailure } from './bounded-failure';
export { boundedProgress, logTail } from './bounded-run';
export { faultOf } from './fault';
export {
  type ClaimedAttempt,
  type Fence,
  type JobFailure,
  type JobLog,
  type JobLogRecord,
  type JobOutputRecord,
  type JobPlace,
  type JobRecord,
  type JobScope,
  type JobTransitionRecord,
  type MovedJob,
  type NodeTiming,
  type RoomLack,
  scopeText,
} from './job';
export {
  type EndGuard,
  type ReleaseGuard,
  deliveryOfOne,
  hasLabels,
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
  sourceShown,
  sourceShownAsked,
} from './job-guards.store';
export { deadlineAndExpiry } from './lifetime.store';
export { retryPolicyOf } from './retry-policy.store';
export { hasRoomAnywhere, isForAnother, isReady, isSetAside, lackedRoom, roomOfJob } from './model-room.store';
export { failureOrNull, progressOrNull, storableJson, timingsOrNull } from './storable';
export { WorkingPoolsStore } from './working-pools.store';
export { TRANSITIONS, type Delivery } from './job-state';

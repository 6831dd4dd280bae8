export { AccountQueueStore } from './account-queue.store';
export { AccountQueues } from './account-queues.service';
export { DeleteDrainedDeploymentsLoop } from './delete-drained-deployments.loop';
export { DrainedDeploymentStore } from './drained-deployment.store';
export { FollowAccountLimitsLoop } from './follow-account-limits.loop';
export { IdleQueueStore } from './idle-queue.store';
export { QUEUE_FULL, hasRoomPart, joinRotationPart, joinRotationsPart, keepRotationPart } from './join.store';
export { takeLateTurnPart } from './late-turn.store';
export { leaveRotationPart } from './leave.store';
export { MeasureQueuesLoop } from './measure-queues.loop';
export { PoolDemandStore } from './pool-demand.store';
export { QueueDepthStore } from './queue-depth.store';
export { QueueEstimates, type QueuePlace } from './queue-estimates';
export { rejoinedPass } from './rejoined-pass.store';
export { freeQueuesPart, returnToRotationPart } from './return.store';
export {
  TurnStore,
  dispatchedOf,
  turnOf,
  turnsPart,
  type DispatchedJob,
  type DispatchedRow,
  type Turn,
  type TurnOffer,
  type TurnRow,
  type Watermarks,
} from './turn.store';
export { SweepAccountQueuesLoop } from './sweep-account-queues.loop';
export { SweepDemoNetworksLoop } from './sweep-demo-networks.loop';

export { DispatchLoop } from './dispatch.loop';
export { Dispatcher } from './dispatcher';
export { RequeueMissingJobsLoop } from './requeue-missing-jobs.loop';
export { UnclaimedStore } from './unclaimed.store';
export { WarmClaimStore } from './warm-claim.store';
export { WarmClaims, isWarm, type ClaimResult, type ClaimingWorker } from './warm-claims.service';
export { WorkingPoolsStore } from './working-pools.store';

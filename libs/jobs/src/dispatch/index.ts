export { Claims } from './claims.service';
export { composeDispatchLoops } from './compose-dispatch-loops';
export { Dispatcher } from './dispatcher';
export { OfferSetAsideJobsLoop } from './offer-set-aside-jobs.loop';
export { SetAsideStore } from './set-aside.store';
export { UnclaimedStore } from './unclaimed.store';
export { WarmClaimStore } from './warm-claim.store';
export { WarmClaims, isWarm, type ClaimResult, type ClaimingWorker } from './warm-claims.service';

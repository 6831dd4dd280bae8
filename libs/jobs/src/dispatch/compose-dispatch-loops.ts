import type { Database } from '@millrace/database';
import type { KeptLanes, LaneProducer } from '@millrace/messaging';
import type { Loop } from '@millrace/platform';
import { GonePoolStore } from '../objectives';
import { WorkingPoolsStore } from '../state';
import { DispatchLoop } from './dispatch.loop';
import type { Dispatcher } from './dispatcher';
import { OfferSetAsideJobsLoop } from './offer-set-aside-jobs.loop';
import { RequeueMissingJobsLoop } from './requeue-missing-jobs.loop';
import { SetAsideStore } from './set-aside.store';
import { SweepLanesLoop } from './sweep-lanes.loop';

interface DispatchParts {
  database: Database;
  dispatcher: Dispatcher;
  lanes: LaneProducer;
  kept: KeptLanes;
}

/** Wire what keeps the lanes filled, puts back what they lost, and removes those that nobody needs any more. */
export function composeDispatchLoops({ database, dispatcher, lanes, kept }: DispatchParts): Loop[] {
  const pools = new WorkingPoolsStore();
  return [
    new DispatchLoop(database, pools, dispatcher),
    new RequeueMissingJobsLoop(database, pools, dispatcher),
    new OfferSetAsideJobsLoop(database, pools, new SetAsideStore(), lanes),
    new SweepLanesLoop(database, new GonePoolStore(), kept),
  ];
}

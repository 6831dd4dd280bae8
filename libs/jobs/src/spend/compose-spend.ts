import type { Database } from '@millrace/database';
import type { Loop } from '@millrace/platform';
import { composeLabelRules, LabelRuleStore } from '../labels';
import type { Lifecycle } from '../lifecycle';
import { AdoptCappedJobsLoop } from './adopt-capped-jobs.loop';
import { CancelSpentJobsLoop } from './cancel-spent-jobs.loop';
import { RecountFreshCapsLoop } from './recount-fresh-caps.loop';
import { RecountKeyCapsLoop } from './recount-key-caps.loop';
import { SpendCapStore } from './spend-cap.store';
import { SpendCaps } from './spend-caps.service';

/** Wire what accounts do with caps on what their jobs cost. */
export function composeSpendCaps(database: Database): SpendCaps {
  return new SpendCaps(database, composeLabelRules(database), new LabelRuleStore(), new SpendCapStore());
}

/** Wire what holds jobs to the caps, and the caps to what was charged. */
export function composeSpendLoops(database: Database, lifecycle: Pick<Lifecycle, 'cancel'>): Loop[] {
  const store = new SpendCapStore();
  return [
    new CancelSpentJobsLoop(database, store, lifecycle),
    new AdoptCappedJobsLoop(database, store),
    new RecountFreshCapsLoop(database, store),
    new RecountKeyCapsLoop(database, store),
  ];
}

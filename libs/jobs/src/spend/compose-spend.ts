import type { Database } from '@millrace/database';
import { composeLabelRules, LabelRuleStore } from '../labels';
import { SpendCapStore } from './spend-cap.store';
import { SpendCaps } from './spend-caps.service';

/** Wire what accounts do with caps on what their jobs cost. */
export function composeSpendCaps(database: Database): SpendCaps {
  return new SpendCaps(database, composeLabelRules(database), new LabelRuleStore(), new SpendCapStore());
}

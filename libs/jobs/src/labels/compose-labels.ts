import type { Database } from '@millrace/database';
import type { Loop } from '@millrace/platform';
import { LabelRuleStore } from './label-rule.store';
import { LabelRules } from './label-rules.service';
import { SweepLabelUseLoop } from './sweep-label-use.loop';

/** Wire what accounts do with their rules. */
export function composeLabelRules(database: Database): LabelRules {
  return new LabelRules(database, new LabelRuleStore());
}

/** Chores, for the process that runs chores. */
export function labelLoops(database: Database): Loop[] {
  return [new SweepLabelUseLoop(database, new LabelRuleStore())];
}

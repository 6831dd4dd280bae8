import type { Statements } from '@millrace/database';
import type { Loop } from '@millrace/platform';
import type { LabelRuleStore } from './label-rule.store';

const BATCH = 1_000;

/** Forgets labels that no live job carries, and that no charge, warning or stop of this day and month is of. The next job makes them again. */
export class SweepLabelUseLoop implements Loop {
  readonly name = 'sweep-label-use';
  readonly everyMs = 3_600_000;

  constructor(
    private readonly database: Statements,
    private readonly store: LabelRuleStore,
  ) {}

  runOnce(): Promise<number> {
    return this.store.sweepUse(this.database, BATCH);
  }
}

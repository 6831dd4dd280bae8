import type { Statements } from '@millrace/database';
import type { Loop } from '@millrace/platform';
import type { UsageStore } from './usage.store';

const BATCH = 1_000;
/** Longer than a year, so that a year can be compared with the one before. */
const KEPT_DAYS = 400;

/** Forgets the labels that customers gave to jobs long past. What the jobs cost stays, with the ledger. */
export class ForgetLabelsLoop implements Loop {
  readonly name = 'forget-labels';
  readonly everyMs = 3_600_000;

  constructor(
    private readonly database: Statements,
    private readonly usage: UsageStore,
  ) {}

  runOnce(): Promise<number> {
    return this.usage.forgetLabels(this.database, KEPT_DAYS, BATCH);
  }
}

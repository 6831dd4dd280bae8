import type { Statements } from '@millrace/database';
import type { Loop } from '@millrace/platform';
import type { DeliveryStore } from './delivery.store';

const BATCH = 1_000;
/** As long as the labels of usage are kept: what was written is compared with the ledger for so long. */
const KEPT_DAYS = 400;
const TEST_DAYS = 14;

/** Deletes what is logged of deliveries long ago. */
export class SweepExportsLoop implements Loop {
  readonly name = 'sweep-exports';
  readonly everyMs = 300_000;

  constructor(
    private readonly database: Statements,
    private readonly store: DeliveryStore,
  ) {}

  runOnce(): Promise<number> {
    return this.store.deleteOld(this.database, KEPT_DAYS, TEST_DAYS, BATCH);
  }
}

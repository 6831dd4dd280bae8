import type { Loop } from '@millrace/platform';
import { sweepKeys, type Statements } from '@millrace/database';

const BATCH = 1_000;

/** Forgets idempotency keys past their lifetime. A forgotten key may be used again, as an expired one already could. */
export class SweepIdempotencyKeysLoop implements Loop {
  readonly name = 'sweep-idempotency-keys';
  readonly everyMs = 30_000;

  constructor(private readonly database: Statements) {}

  runOnce(): Promise<number> {
    return sweepKeys(this.database, BATCH);
  }
}

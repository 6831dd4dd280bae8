import type { Statements } from '@millrace/database';
import type { Loop } from '@millrace/platform';
import type { SpendAnomalyStore } from './spend-anomaly.store';

const BATCH = 100;
const FACTOR = 10;
const DAYS = 7;
/** One credit: an hour that costs less is never unusual. */
const FLOOR_MICROS = 1_000_000;

/** Notices accounts of an hour that costs ten times as much as usual: a loop in their own code, or a key in the wrong hands. */
export class NoteSpendAnomaliesLoop implements Loop {
  readonly name = 'note-spend-anomalies';
  readonly everyMs = 60_000;

  constructor(
    private readonly database: Statements,
    private readonly store: Pick<SpendAnomalyStore, 'note'>,
  ) {}

  runOnce(): Promise<number> {
    return this.store.note(this.database, { factor: FACTOR, days: DAYS, floorMicros: FLOOR_MICROS }, BATCH);
  }
}

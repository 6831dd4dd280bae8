import type { Database } from '@millrace/database';
import type { Loop } from '@millrace/platform';
import type { StorageStore } from '../records';

const BATCH = 1_000;

/** Deletes the room that dead processes had reserved. It stopped counting when it expired. */
export class SweepReservationsLoop implements Loop {
  readonly name = 'sweep-reservations';
  readonly everyMs = 600_000;

  constructor(
    private readonly database: Database,
    private readonly storage: Pick<StorageStore, 'sweepReservations'>,
  ) {}

  runOnce(): Promise<number> {
    return this.storage.sweepReservations(this.database, BATCH);
  }
}

import type { Statements } from '@millrace/database';
import type { Loop } from '@millrace/platform';
import type { UploadDayStore } from '../upload';

const BATCH = 1_000;
const KEPT_DAYS = 40;

/** Deletes how much was uploaded on days long past. */
export class SweepUploadDaysLoop implements Loop {
  readonly name = 'sweep-upload-days';
  readonly everyMs = 3_600_000;

  constructor(
    private readonly database: Statements,
    private readonly uploadDays: UploadDayStore,
  ) {}

  runOnce(): Promise<number> {
    return this.uploadDays.sweep(this.database, KEPT_DAYS, BATCH);
  }
}

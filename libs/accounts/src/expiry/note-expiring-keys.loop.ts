import type { Statements } from '@millrace/database';
import type { Loop } from '@millrace/platform';
import { noteExpiringKeys } from './expiring-key.store';

const BATCH = 500;

/** Announces keys that expire, a week and a day before, to the webhook endpoints of their accounts. */
export class NoteExpiringKeysLoop implements Loop {
  readonly name = 'note-expiring-keys';
  readonly everyMs = 60_000;

  constructor(private readonly database: Statements) {}

  runOnce(): Promise<number> {
    return noteExpiringKeys(this.database, BATCH);
  }
}

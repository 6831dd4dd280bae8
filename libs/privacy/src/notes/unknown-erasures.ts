import type { NoteStore } from '@millrace/assets';
import type { Statements } from '@millrace/database';
import type { ErasureStore } from '../erasure';
import { noteNames, type NoteName } from './erasure-notes';

/** Names asked about in one statement. */
const BATCH = 500;

/** Finds notes of erasures that the database does not know: it was restored to a moment before them. */
export class UnknownErasures {
  constructor(
    private readonly database: Statements,
    private readonly store: Pick<ErasureStore, 'unknownOf'>,
    private readonly notes: NoteStore,
  ) {}

  /** Those of accounts that are there. @throws BlobStoreError; what the database throws. */
  async *find(): AsyncGenerator<NoteName> {
    let batch: NoteName[] = [];
    for await (const name of noteNames(this.notes)) {
      batch.push(name);
      if (batch.length < BATCH) continue;
      yield* await this.store.unknownOf(this.database, batch);
      batch = [];
    }
    yield* await this.store.unknownOf(this.database, batch);
  }
}

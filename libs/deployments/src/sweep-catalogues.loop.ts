import type { Statements } from '@millrace/database';
import type { Loop } from '@millrace/platform';
import type { CatalogueStore } from './catalogue.store';

/** Names looked at in one run. */
const LISTED = 10_000;
/** Deleted with one statement: each has up to 16 MiB. */
const BATCH = 20;
/** A request may still be checked against the catalogue that its pool had a second ago. */
const UNUSED_MS = 120_000;

/**
 * Deletes catalogues that no pool has pointed at for two minutes. A worker can publish megabytes every few seconds, so none is kept in
 * case it comes again: then it is written again.
 */
export class SweepCataloguesLoop implements Loop {
  readonly name = 'sweep-catalogues';
  readonly everyMs = 60_000;
  /** When this process first found each catalogue without a pool. */
  private unusedSince = new Map<string, number>();

  constructor(
    private readonly database: Statements,
    private readonly catalogues: CatalogueStore,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  async runOnce(): Promise<number> {
    const nowMs = this.nowMs();
    const unused = await this.catalogues.listUnused(this.database, LISTED);
    this.unusedSince = new Map(unused.map((digest) => [digest, this.unusedSince.get(digest) ?? nowMs]));
    const old = unused.filter((digest) => nowMs - (this.unusedSince.get(digest) ?? nowMs) >= UNUSED_MS);
    let deleted = 0;
    for (let from = 0; from < old.length; from += BATCH) {
      deleted += await this.catalogues.deleteUnused(this.database, old.slice(from, from + BATCH));
    }
    return deleted;
  }
}

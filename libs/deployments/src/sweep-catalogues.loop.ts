import type { Statements } from '@millrace/database';
import type { Loop } from '@millrace/platform';
import type { CatalogueStore } from './catalogue.store';

const BATCH = 100;
/** Workers that return within this find their catalogue. */
const KEPT_DAYS = 7;
/** A request may still validate against the catalogue that its pool had a second ago. */
const UNUSED_MS = 3_600_000;

/** Deletes catalogues that were not published for a week and that no pool has pointed at for an hour. */
export class SweepCataloguesLoop implements Loop {
  readonly name = 'sweep-catalogues';
  readonly everyMs = 600_000;
  /** When this process first found each catalogue without a pool. */
  private unusedSince = new Map<string, number>();

  constructor(
    private readonly database: Statements,
    private readonly catalogues: CatalogueStore,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  async runOnce(): Promise<number> {
    const nowMs = this.nowMs();
    const unused = await this.catalogues.listUnused(this.database, KEPT_DAYS, BATCH);
    this.unusedSince = new Map(unused.map((digest) => [digest, this.unusedSince.get(digest) ?? nowMs]));
    const old = unused.filter((digest) => nowMs - (this.unusedSince.get(digest) ?? nowMs) >= UNUSED_MS);
    return old.length === 0 ? 0 : this.catalogues.deleteUnused(this.database, KEPT_DAYS, old);
  }
}

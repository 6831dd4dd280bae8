import type { NodeCatalogue } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import type { CatalogueStore } from './catalogue.store';

/** Parsed catalogues kept: a few per pool and release. */
const KEPT = 32;

/** Catalogues by digest, parsed once per process: the text is hundreds of kilobytes and every submission needs it. */
export class CatalogueReader {
  private readonly parsed = new Map<string, Promise<NodeCatalogue>>();

  constructor(
    private readonly database: Statements,
    private readonly store: CatalogueStore,
  ) {}

  /** @throws when no catalogue has this digest, which the foreign key of pools rules out. */
  async read(digest: string): Promise<NodeCatalogue> {
    let catalogue = this.parsed.get(digest);
    if (catalogue === undefined) {
      catalogue = this.load(digest);
      const oldest = this.parsed.keys().next();
      if (this.parsed.size >= KEPT && !oldest.done) this.parsed.delete(oldest.value);
      this.parsed.set(digest, catalogue);
      catalogue.catch(() => this.parsed.delete(digest));
    }
    return catalogue;
  }

  private async load(digest: string): Promise<NodeCatalogue> {
    const stored = await this.store.find(this.database, digest);
    if (stored === null) throw new Error(`the catalogue ${digest} is not stored`);
    return stored.catalogue;
  }
}

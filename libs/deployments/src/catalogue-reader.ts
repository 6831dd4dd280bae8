import type { NodeCatalogue } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import { LoadingCache } from '@millrace/platform';
import type { CatalogueStore } from './catalogue.store';

/** Parsed catalogues kept: a few per pool and release. */
const CACHED_CATALOGUES = 32;

/** Catalogues by digest, parsed once per process: the text is hundreds of kilobytes and every submission needs it. */
export class CatalogueReader {
  /** A digest names one text for all time, so nothing ages. */
  private readonly parsed = new LoadingCache<NodeCatalogue>({
    max: CACHED_CATALOGUES,
    load: (digest) => this.load(digest),
  });

  constructor(
    private readonly database: Statements,
    private readonly store: CatalogueStore,
  ) {}

  /** @throws when no catalogue has this digest, which the foreign key of pools rules out. */
  read(digest: string): Promise<NodeCatalogue> {
    return this.parsed.get(digest);
  }

  private async load(digest: string): Promise<NodeCatalogue> {
    const stored = await this.store.find(this.database, digest);
    if (stored === null) throw new Error(`the catalogue ${digest} is not stored`);
    return stored.catalogue;
  }
}

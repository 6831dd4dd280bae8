import { runLimitsOf, type NodeCatalogue } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import { LoadingCache, Turns } from '@millrace/platform';
import { limitRuns } from '@millrace/workflow';
import type { CatalogueStore } from './catalogue.store';
import { parseInStretches } from './parse-in-stretches';

/**
 * Bytes of the texts of catalogues that are kept, parsed: a few per pool and release, of 2 MiB where there are thousands of classes. Parsed, one that
 * is made to take memory has three times its bytes.
 */
const KEPT_BYTES = 96 * 1_024 * 1_024;
/** However small they are. */
const KEPT_CATALOGUES = 1_000;
/** A larger one is read when those before it are done and have rested: a worker may publish another every few seconds. */
const SMALL_BYTES = 4 * 1_024 * 1_024;

/** JSON of a catalogue, in memory that threads can share. */
type CatalogueText = SharedArrayBuffer;
const texts = new WeakMap<NodeCatalogue, CatalogueText>();

/** The text that a catalogue was read from, as UTF-8; undefined for one that no `CatalogueReader` has read. */
export function textOfCatalogue(catalogue: NodeCatalogue): CatalogueText | undefined {
  return texts.get(catalogue);
}

/** Catalogues by digest, parsed once per process, with the limits of their engine: the text is hundreds of kilobytes and every submission needs it. */
export class CatalogueReader {
  /** A digest names one text for all time, so nothing ages. */
  private readonly parsed: LoadingCache<NodeCatalogue>;
  private readonly turns = new Turns(1, 'large node catalogues', { whose: 'all', rest: { times: 1, isAlways: true } });

  constructor(
    private readonly database: Statements,
    private readonly store: Pick<CatalogueStore, 'head' | 'text'>,
    keptBytes = KEPT_BYTES,
  ) {
    this.parsed = new LoadingCache<NodeCatalogue>({
      max: KEPT_CATALOGUES,
      weight: { of: (catalogue) => textOfCatalogue(catalogue)?.byteLength ?? 0, most: keptBytes },
      load: (digest) => this.load(digest),
    });
  }

  /**
   * @throws Refusal `rate_limited` while too many large ones are to be read; Error when no catalogue has this digest, which the foreign key of
   * pools rules out.
   */
  read(digest: string): Promise<NodeCatalogue> {
    return this.parsed.get(digest);
  }

  private async load(digest: string): Promise<NodeCatalogue> {
    const head = await this.store.head(this.database, digest);
    if (head === null) throw new Error(`the catalogue ${digest} is not stored`);
    const read = async (): Promise<NodeCatalogue> => {
      const catalogue = await this.parse(digest);
      limitRuns(catalogue, runLimitsOf(head.engine));
      return catalogue;
    };
    return head.bytes <= SMALL_BYTES ? read() : this.turns.run('', read);
  }

  /** What was checked when it was published is not checked again. */
  private async parse(digest: string): Promise<NodeCatalogue> {
    const text = await this.store.text(this.database, digest);
    if (text === null) throw new Error(`the catalogue ${digest} is not stored`);
    const catalogue = (await parseInStretches(text)) as NodeCatalogue;
    const bytes = Buffer.from(text);
    const shared = new SharedArrayBuffer(bytes.byteLength);
    bytes.copy(new Uint8Array(shared));
    texts.set(catalogue, shared);
    return catalogue;
  }
}

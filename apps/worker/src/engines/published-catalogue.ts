import type { NodeCatalogue } from '@millrace/contracts';
import type { Engine } from '@millrace/engines';
import type { Logger } from '@millrace/platform';
import { commonCatalogue } from './common-catalogue';
import { listedModels, withLibraryModels } from './library-catalogue';

/** Classes that a line of the log names. */
const SHOWN_CLASSES = 20;

/** What a worker has published that it can run: what every one of its engines can, because a job may come to any. */
export class PublishedCatalogue {
  private catalogue: NodeCatalogue = {};
  /** Files of weights that every engine has by itself. */
  private ownModels: ReadonlySet<string> = new Set();
  /** The catalogue of each engine when that was published. */
  private published: NodeCatalogue[] = [];
  private refreshing: Promise<void> | null = null;

  /**
   * @param publish makes a catalogue the pool's; resolves with its digest.
   * @param showsLibrary the engines are shown models of libraries.
   */
  constructor(
    private readonly engines: readonly Pick<Engine, 'catalogue'>[],
    private readonly publish: (catalogue: NodeCatalogue) => Promise<string>,
    private readonly logger: Pick<Logger, 'info' | 'warn'>,
    private readonly showsLibrary = false,
  ) {}

  get current(): NodeCatalogue {
    return this.catalogue;
  }

  /** Of some files of weights, those that an engine finds in a library alone; none where it is shown none. */
  libraryOnly(names: readonly string[]): string[] {
    return this.showsLibrary ? names.filter((name) => !this.ownModels.has(name)) : [];
  }

  /**
   * Publish what can be run, when an engine has another catalogue than the last time. One that is being sent is not sent beside
   * itself: a gateway may take a while to take it in.
   *
   * @throws when an engine or the database does not answer; what was published stays.
   */
  refresh(): Promise<void> {
    this.refreshing ??= this.publishChanges().finally(() => (this.refreshing = null));
    return this.refreshing;
  }

  private async publishChanges(): Promise<void> {
    const current = await Promise.all(this.engines.map((engine) => engine.catalogue()));
    const { published } = this;
    if (current.length === published.length && current.every((one, index) => one === published[index])) return;
    const { catalogue: common, differing } = commonCatalogue(current);
    const catalogue = this.showsLibrary ? withLibraryModels(common) : common;
    const digest = await this.publish(catalogue);
    this.catalogue = catalogue;
    this.ownModels = listedModels(common);
    this.published = current;
    this.logger.info({ digest, classes: Object.keys(catalogue).length }, 'the node catalogue was published');
    if (differing.length === 0) return;
    const classes = differing.slice(0, SHOWN_CLASSES);
    this.logger.warn(
      { classes, count: differing.length },
      'the engines of this worker differ: only what all of them can run is offered',
    );
  }
}

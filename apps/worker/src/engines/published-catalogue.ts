import type { NodeCatalogue } from '@millrace/contracts';
import type { Engine } from '@millrace/engines';
import type { Logger } from '@millrace/platform';
import { commonCatalogue } from './common-catalogue';

/** Classes that a line of the log names. */
const SHOWN_CLASSES = 20;

/** What a worker has told its pool that it can run: what every one of its engines can, because a job may come to any. */
export class PublishedCatalogue {
  private catalogue: NodeCatalogue = {};
  /** What each engine said when that was published. */
  private said: NodeCatalogue[] = [];

  /** @param publish makes a catalogue the pool's; resolves with its digest. */
  constructor(
    private readonly engines: readonly Pick<Engine, 'catalogue'>[],
    private readonly publish: (catalogue: NodeCatalogue) => Promise<string>,
    private readonly logger: Pick<Logger, 'info' | 'warn'>,
  ) {}

  get current(): NodeCatalogue {
    return this.catalogue;
  }

  /**
   * Publish what can be run, when an engine says something else than the last time.
   *
   * @throws when an engine or the database does not answer; what was published stays.
   */
  async refresh(): Promise<void> {
    const said = await Promise.all(this.engines.map((engine) => engine.catalogue()));
    if (said.length === this.said.length && said.every((catalogue, index) => catalogue === this.said[index])) return;
    const { catalogue, differing } = commonCatalogue(said);
    const digest = await this.publish(catalogue);
    this.catalogue = catalogue;
    this.said = said;
    this.logger.info({ digest, classes: Object.keys(catalogue).length }, 'the node catalogue was published');
    if (differing.length === 0) return;
    const classes = differing.slice(0, SHOWN_CLASSES);
    this.logger.warn(
      { classes, count: differing.length },
      'the engines of this worker differ: only what all of them can run is offered',
    );
  }
}

import { Service } from './service.mjs';

/** @typedef {import('./service.mjs').ServiceSpec} ServiceSpec */

/** The processes of one stack: started in groups, written down while they run, stopped in the reverse order. */
export class Fleet {
  /** @type {Service[]} */
  services = [];
  /**
   * Told whenever a pid has changed.
   *
   * @type {() => void}
   */
  changed = () => undefined;

  /**
   * @param {import('../command/scope.mjs').Scope} scope
   * @param {import('./data-folder.mjs').DataFolder} folder
   */
  constructor(scope, folder) {
    this.scope = scope;
    this.folder = folder;
  }

  /**
   * Start processes side by side and wait until all are ready; they stop side by side, too.
   *
   * @param {ServiceSpec[]} specs
   */
  async start(specs) {
    const watcher = {
      changed: () => {
        this.folder.record(this.services);
        this.changed();
      },
      lost: (/** @type {Error} */ failure) => this.scope.end(failure),
    };
    const group = specs.map((spec) => new Service(spec, watcher));
    this.services.push(...group);
    this.scope.defer(async (hurry) => {
      const ends = await Promise.allSettled(group.map((service) => service.stop(hurry)));
      for (const end of ends) if (end.status === 'rejected') throw end.reason;
    });
    await Promise.all(group.map((service) => service.start(this.scope)));
  }
}

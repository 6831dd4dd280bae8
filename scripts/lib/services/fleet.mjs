import { Service } from './service.mjs';

/** @typedef {import('./service.mjs').ServiceSpec} ServiceSpec */

/** The processes of one stack: started in groups, written down while they run, stopped in the reverse order. */
export class Fleet {
  /** @type {Service[]} */
  services = [];
  /**
   * Called whenever a pid has changed.
   *
   * @type {() => void}
   */
  changed = () => undefined;
  /**
   * Called when a process cannot be kept alive: everything ends.
   *
   * @type {(failure: Error) => void}
   */
  lost = (failure) => this.scope.end(failure);

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
      lost: (/** @type {Error} */ failure) => this.lost(failure),
    };
    const group = specs.map((spec) => new Service(spec, watcher));
    this.services.push(...group);
    this.scope.defer(async (hurry) => {
      const ends = await Promise.allSettled(group.map((service) => service.stop(hurry)));
      for (const end of ends) if (end.status === 'rejected') throw end.reason;
    });
    await Promise.all(group.map((service) => service.start(this.scope)));
  }
  /**
   * Stop processes side by side, and start each again as soon as it has ended.
   *
   * @param {Service[]} services
   * @throws {Failure} of the first that is not ready afterwards; each of them may be restarted again
   */
  async restart(services) {
    const restart = async (/** @type {Service} */ service) => {
      await service.stop(this.scope.hurry);
      await service.start(this.scope);
    };
    const results = await Promise.allSettled(services.map(restart));
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }
}

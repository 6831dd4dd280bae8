import { availableParallelism } from 'node:os';
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
   * Stop processes and start them again, in this order, as many at a time as there are processors: each keeps one busy until it is
   * ready, and more at a time would only make all of them late.
   *
   * @param {Service[]} services
   * @throws {Failure} of the first that is not ready afterwards; each of them may be restarted again
   */
  async restart(services) {
    const waiting = [...services];
    /** @type {unknown[]} */
    const failures = [];
    const restartSome = async () => {
      for (let service = waiting.shift(); service !== undefined; service = waiting.shift()) {
        await service
          .stop(this.scope.hurry)
          .then(() => service.start(this.scope))
          .catch((/** @type {unknown} */ failure) => failures.push(failure));
      }
    };
    await Promise.all(Array.from({ length: availableParallelism() }, restartSome));
    if (failures.length > 0) throw failures[0];
  }
}

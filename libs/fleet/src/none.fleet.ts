import type { Fleet, Group } from './fleet';

/** No fleet: an operator runs the workers of deployments. */
export class NoFleet implements Fleet {
  readonly name = 'none';

  async observe(): Promise<Group[]> {
    return [];
  }

  async apply(): Promise<void> {
    // Nothing is run from here.
  }

  async dissolve(): Promise<void> {
    // Nothing is run from here.
  }

  async resign(): Promise<void> {
    // Nothing is run from here.
  }
}

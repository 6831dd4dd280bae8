import type { Caller } from '@millrace/accounts';
import { Refusal } from '@millrace/contracts';
import type { Target, Targets } from '@millrace/deployments';
import type { Surface } from '../http/surface';

/** Where the jobs of a surface run. */
export class Destinations {
  constructor(
    private readonly targets: Targets,
    private readonly sharedPool: string,
  ) {}

  /** @throws Refusal when nothing can run there now, or there is no such deployment for this caller. */
  async of(surface: Surface, _caller: Caller): Promise<Target> {
    if (surface.kind !== 'deployment') return this.targets.shared(this.sharedPool);
    throw new Refusal('not_found', `There is no deployment ${surface.deploymentId} of this account.`);
  }
}

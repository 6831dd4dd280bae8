import type { Target, Targets } from '@millrace/deployments';
import type { Surface } from '../http/surface';

/** Where the jobs of a surface run. */
export class Destinations {
  constructor(
    private readonly targets: Targets,
    private readonly sharedPool: string,
  ) {}

  /**
   * @param surface one that the caller was identified on.
   * @throws Refusal when nothing can run there now.
   */
  async of({ deploymentId }: Pick<Surface, 'deploymentId'>): Promise<Target> {
    return deploymentId === null ? this.targets.shared(this.sharedPool) : this.targets.deployment(deploymentId);
  }
}

import { Inject, Injectable } from '@nestjs/common';
import { Targets, type Target, type TargetOptions } from '@millrace/deployments';
import { API_SETTINGS, type ApiSettings } from '../api.config';
import type { Surface } from '../http';

/** Where the jobs of a surface run. */
@Injectable()
export class Destinations {
  constructor(
    private readonly targets: Targets,
    @Inject(API_SETTINGS) private readonly settings: Pick<ApiSettings, 'pool'>,
  ) {}

  /**
   * @param surface one that the caller was identified on.
   * @param options `purpose` where nothing is submitted: a deployment without workers then gets none for it. The same `seed` is given the
   * same of two versions.
   * @throws Refusal when nothing can run there now.
   */
  async of({ deploymentId }: Pick<Surface, 'deploymentId'>, options: TargetOptions = {}): Promise<Target> {
    if (deploymentId === null) return this.targets.shared(this.settings.pool);
    return this.targets.deployment(deploymentId, options);
  }
}

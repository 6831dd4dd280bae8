import { Inject, Injectable } from '@nestjs/common';
import { Targets, type Target } from '@millrace/deployments';
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
   * @throws Refusal when nothing can run there now.
   */
  async of({ deploymentId }: Pick<Surface, 'deploymentId'>): Promise<Target> {
    return deploymentId === null ? this.targets.shared(this.settings.pool) : this.targets.deployment(deploymentId);
  }
}

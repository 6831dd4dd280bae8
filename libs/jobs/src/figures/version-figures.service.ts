import type { Statements } from '@millrace/database';
import type { VersionFigure, VersionFiguresStore } from './version-figures.store';

export type { VersionFigure } from './version-figures.store';

/** How the latest jobs of a deployment came out, by version. */
export class VersionFigures {
  constructor(
    private readonly database: Statements,
    private readonly store: VersionFiguresStore,
  ) {}

  /**
   * Of the latest 5,000 jobs of a deployment, by the number of the version that they ran on, or would have. A version without any is absent.
   *
   * @param deploymentId one that the caller may see.
   */
  async of(deploymentId: string): Promise<ReadonlyMap<number, VersionFigure>> {
    const figures = await this.store.find(this.database, deploymentId);
    return new Map(figures.map((figure) => [figure.version, figure]));
  }
}

import type { Database, Statements } from '@millrace/database';
import type { Loop } from '@millrace/platform';
import type { DrainedDeploymentStore } from './drained-deployment.store';

/** A request may still know a deployment as one that takes jobs, for as long as a reading of it is cached. */
const SETTLE_SECONDS = 5;
const BATCH = 100;

/** Deletes deployments that were to drain first and have no jobs any more. */
export class DeleteDrainedDeploymentsLoop implements Loop {
  readonly name = 'delete-drained-deployments';
  readonly everyMs = 2_000;

  constructor(
    private readonly database: Pick<Database, 'transaction'> & Statements,
    private readonly store: DrainedDeploymentStore,
  ) {}

  async runOnce(): Promise<number> {
    const drained = await this.store.listDrained(this.database, SETTLE_SECONDS, BATCH);
    return drained.length === 0 ? 0 : this.database.transaction((tx) => this.store.remove(tx, drained));
  }
}

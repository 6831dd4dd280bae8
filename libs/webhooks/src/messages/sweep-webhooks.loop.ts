import type { Statements } from '@millrace/database';
import type { Loop } from '@millrace/platform';
import type { WebhookSweepStore } from './sweep.store';

const BATCH = 1_000;

/** Deletes messages past their retention, expired secrets, and what is left of deleted endpoints. */
export class SweepWebhooksLoop implements Loop {
  readonly name = 'sweep-webhooks';
  readonly everyMs = 60_000;

  constructor(
    private readonly database: Statements,
    private readonly store: WebhookSweepStore,
    private readonly keptSeconds: number,
  ) {}

  async runOnce(): Promise<number> {
    const old = await this.store.deleteOld(this.database, this.keptSeconds, BATCH);
    const orphaned = await this.store.deleteOrphaned(this.database, BATCH);
    const secrets = await this.store.deleteSecrets(this.database, BATCH);
    return old + orphaned + secrets + (await this.store.deleteEndpoints(this.database, BATCH));
  }
}

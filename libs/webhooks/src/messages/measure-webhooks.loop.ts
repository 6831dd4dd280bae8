import { oldestUntriedSeconds } from './oldest-message.store';
import type { Statements } from '@millrace/database';
import type { Loop, Metrics } from '@millrace/platform';

/** Measures how far the delivery of webhooks is behind. */
export class MeasureWebhooksLoop implements Loop {
  readonly name = 'measure-webhooks';
  readonly everyMs = 15_000;

  constructor(
    private readonly database: Statements,
    private readonly metrics: Pick<Metrics, 'webhookOldestSeconds'>,
  ) {}

  async runOnce(): Promise<number> {
    this.metrics.webhookOldestSeconds.set(await oldestUntriedSeconds(this.database));
    return 0;
  }
}

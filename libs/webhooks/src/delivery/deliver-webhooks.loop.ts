import type { Loop } from '@millrace/platform';
import type { Deliverer } from './deliverer';

/** Sends webhooks that are due. Every process does: a claim leaves each message to one of them. */
export class DeliverWebhooksLoop implements Loop {
  readonly name = 'deliver-webhooks';
  readonly everyMs = 200;
  readonly everywhere = true;

  constructor(private readonly deliverer: Pick<Deliverer, 'sendDue'>) {}

  runOnce(): Promise<number> {
    return this.deliverer.sendDue();
  }
}

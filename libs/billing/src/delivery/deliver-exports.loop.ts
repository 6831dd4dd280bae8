import type { Loop } from '@millrace/platform';
import type { ExportDeliverer } from './export-deliverer';

/** Writes exports that are due. Every process does: a claim leaves each day to one of them. */
export class DeliverExportsLoop implements Loop {
  readonly name = 'deliver-exports';
  readonly everyMs = 1_000;
  readonly everywhere = true;

  constructor(private readonly deliverer: Pick<ExportDeliverer, 'deliverDue'>) {}

  runOnce(): Promise<number> {
    return this.deliverer.deliverDue();
  }
}

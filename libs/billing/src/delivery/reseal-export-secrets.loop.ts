import type { Statements } from '@millrace/database';
import { ItemSweep, type Loop, type LoopReport } from '@millrace/platform';
import type { DestinationSecrets } from './destination-secrets';
import type { DestinationStore, FormerlySealed } from './destination.store';

const BATCH = 100;

/** Seals secrets again that a former key of the ring sealed, so that the key can be removed (docs/operations.md). */
export class ResealExportSecretsLoop implements Loop {
  readonly name = 'reseal-export-secrets';
  readonly everyMs = 60_000;
  private readonly sweep: ItemSweep<FormerlySealed>;

  constructor(database: Statements, store: DestinationStore, secrets: DestinationSecrets) {
    this.sweep = new ItemSweep({
      limit: BATCH,
      page: (after, limit) => store.listFormerlySealed(database, secrets.sealedHead, after, limit),
      keyOf: ({ accountId }) => accountId,
      work: (former) => store.replaceSealed(database, former, secrets.reseal(former.sealedSecret, former.accountId)),
    });
  }

  runOnce(report?: LoopReport): Promise<number> {
    return this.sweep.run(report);
  }
}

import type { Statements } from '@millrace/database';
import { ItemSweep, type Loop, type LoopReport } from '@millrace/platform';
import type { EndpointSecrets } from './endpoint-secrets';
import { listFormerlySealed, replaceSealed, type FormerlySealed } from './secret.store';

const BATCH = 100;

/** Seals secrets again that a former key of the ring sealed, so that the key can be removed (docs/operations.md). */
export class ResealWebhookSecretsLoop implements Loop {
  readonly name = 'reseal-webhook-secrets';
  readonly everyMs = 60_000;
  private readonly sweep: ItemSweep<FormerlySealed>;

  constructor(database: Statements, secrets: EndpointSecrets) {
    this.sweep = new ItemSweep({
      limit: BATCH,
      page: (after, limit) => listFormerlySealed(database, secrets.sealedHead, after, limit),
      keyOf: ({ id }) => id,
      work: (secret) => replaceSealed(database, secret.id, secrets.reseal(secret.sealed, secret)),
    });
  }

  runOnce(report?: LoopReport): Promise<number> {
    return this.sweep.run(report);
  }
}

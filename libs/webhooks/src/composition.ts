import type { Database } from '@millrace/database';
import type { KeyRing, Logger, Loop, Metrics } from '@millrace/platform';
import { DeliverWebhooksLoop, Deliverer, Lanes, type ReadJobs } from './delivery';
import { EndpointSecrets, EndpointStore, ResealWebhookSecretsLoop, WebhookEndpoints } from './endpoints';
import { SweepWebhooksLoop, WebhookSweepStore } from './messages';
import { ReceiverClient, ReceiverGuard, type ResolveHost } from './receivers';
import type { WebhookSettings } from './webhook.settings';

/** What webhooks are built on, made by the process that uses them. */
interface WebhookParts {
  database: Database;
  secretKey: KeyRing;
  settings: WebhookSettings;
}

/** Wire what accounts do with their endpoints. */
export function composeWebhookEndpoints({ database, secretKey, settings }: WebhookParts): WebhookEndpoints {
  const guard = new ReceiverGuard(settings.webhookAllowedNetworks);
  return new WebhookEndpoints(database, new EndpointStore(), new EndpointSecrets(secretKey), guard, settings);
}

/** What sends messages, for the process that runs chores. */
export interface WebhookDelivery {
  loops: Loop[];
  close(): Promise<void>;
}

/** Wire what sends messages. @param resolve how hosts are looked up, where a test decides that. */
export function composeWebhookDelivery(
  { database, secretKey, settings, metrics, logger }: WebhookParts & { metrics: Metrics; logger: Logger },
  readJobs: ReadJobs,
  resolve?: ResolveHost,
): WebhookDelivery {
  const { webhookAllowedNetworks, webhookTimeoutSeconds, webhookRetentionSeconds } = settings;
  const guard = new ReceiverGuard(webhookAllowedNetworks);
  const client = new ReceiverClient(guard, webhookTimeoutSeconds * 1_000, resolve);
  const secrets = new EndpointSecrets(secretKey);
  const deliverer = new Deliverer(
    database,
    secrets,
    client,
    new Lanes(),
    readJobs,
    metrics,
    logger,
    webhookTimeoutSeconds,
  );
  return {
    loops: [
      new DeliverWebhooksLoop(deliverer),
      new ResealWebhookSecretsLoop(database, secrets),
      new SweepWebhooksLoop(database, new WebhookSweepStore(), webhookRetentionSeconds),
    ],
    close: () => deliverer.close(),
  };
}

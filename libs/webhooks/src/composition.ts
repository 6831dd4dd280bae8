import type { Database } from '@millrace/database';
import type { DeveloperMails } from '@millrace/mail';
import { AddressGuard, type KeyRing, type Logger, type Loop, type Metrics, type ResolveHost } from '@millrace/platform';
import { DeliverWebhooksLoop, Deliverer, Lanes, type MessageReaders } from './delivery';
import { EndpointSecrets, EndpointStore, ResealWebhookSecretsLoop, WebhookEndpoints } from './endpoints';
import {
  MeasureWebhooksLoop,
  MessageLogStore,
  SweepWebhooksLoop,
  WebhookMessages,
  WebhookSweepStore,
} from './messages';
import { ReceiverClient } from './receivers';
import type { WebhookSettings } from './webhook.settings';

/** What webhooks are built on, made by the process that uses them. */
interface WebhookParts {
  database: Database;
  secretKey: KeyRing;
  settings: WebhookSettings;
}

/** Wire what accounts do with their endpoints, and read of them. */
export function composeWebhookEndpoints({ database, secretKey, settings }: WebhookParts): {
  endpoints: WebhookEndpoints;
  messages: WebhookMessages;
} {
  const guard = new AddressGuard(settings.webhookAllowedNetworks);
  const secrets = new EndpointSecrets(secretKey);
  const endpoints = new WebhookEndpoints(database, new EndpointStore(), secrets, guard, settings);
  return { endpoints, messages: new WebhookMessages(database, endpoints, new MessageLogStore()) };
}

/** What sends messages, for the process that runs chores. */
export interface WebhookDelivery {
  loops: Loop[];
  close(): Promise<void>;
}

/** What sends messages is built on, beside that. */
interface DeliveryParts extends WebhookParts {
  mails: DeveloperMails;
  metrics: Metrics;
  logger: Logger;
}

/** Wire what sends messages. @param resolve how hosts are looked up, where a test decides that. */
export function composeWebhookDelivery(
  { database, secretKey, settings, mails, metrics, logger }: DeliveryParts,
  readers: MessageReaders,
  resolve?: ResolveHost,
): WebhookDelivery {
  const { webhookAllowedNetworks, webhookTimeoutSeconds, webhookRetentionSeconds } = settings;
  const guard = new AddressGuard(webhookAllowedNetworks);
  const client = new ReceiverClient(guard, webhookTimeoutSeconds * 1_000, resolve);
  const secrets = new EndpointSecrets(secretKey);
  const deliverer = new Deliverer(
    database,
    secrets,
    client,
    new Lanes(),
    readers,
    mails,
    metrics,
    logger,
    webhookTimeoutSeconds,
  );
  return {
    loops: [
      new DeliverWebhooksLoop(deliverer),
      new MeasureWebhooksLoop(database, metrics),
      new ResealWebhookSecretsLoop(database, secrets),
      new SweepWebhooksLoop(database, new WebhookSweepStore(), webhookRetentionSeconds),
    ],
    close: () => deliverer.close(),
  };
}

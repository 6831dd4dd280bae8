import type { Database } from '@millrace/database';
import type { KeyRing, Logger, Loop } from '@millrace/platform';
import { DeliverMailLoop } from './deliver-mail.loop';
import { FolderSender } from './folder-sender';
import type { MailSender } from './mail';
import { MailOutbox } from './mail-outbox';
import { MailOutboxStore } from './mail-outbox.store';
import { mailPlaceOf, type MailSettings } from './mail.settings';
import { SmtpSender } from './smtp-sender';
import { SweepMailLoop } from './sweep-mail.loop';

/** Wire what has mail sent. @throws SettingsError. */
export function composeMailOutbox(secretKey: KeyRing, settings: MailSettings): MailOutbox {
  return new MailOutbox(new MailOutboxStore(), secretKey, mailPlaceOf(settings) !== null);
}

/** What sends mail is built on, made by the process that runs chores. */
interface DeliveryParts {
  database: Database;
  secretKey: KeyRing;
  logger: Logger;
  settings: MailSettings;
}

/** Wire what sends mail, and what sweeps it, which is done also where none is sent. @throws SettingsError. */
export function composeMailDelivery({ database, secretKey, logger, settings }: DeliveryParts): {
  loops: Loop[];
  /** Once no loop runs any more: resolves within some seconds. */
  close(): Promise<void>;
} {
  const store = new MailOutboxStore();
  const sweep = new SweepMailLoop(database, store);
  const sender = senderOf(settings);
  if (sender === null) return { loops: [sweep], close: () => Promise.resolve() };
  const outbox = composeMailOutbox(secretKey, settings);
  const deliver = new DeliverMailLoop(database, store, outbox, sender, logger);
  return { loops: [sweep, deliver], close: () => deliver.close() };
}

function senderOf(settings: MailSettings): MailSender | null {
  const place = mailPlaceOf(settings);
  if (place === null) return null;
  const { mailFrom } = settings;
  return 'folder' in place ? new FolderSender(place.folder, mailFrom) : new SmtpSender(place.smtpUrl, mailFrom);
}

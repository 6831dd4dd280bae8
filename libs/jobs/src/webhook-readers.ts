import type { ContentLinks } from '@millrace/assets';
import type { Database } from '@millrace/database';
import type { MessageReaders } from '@millrace/webhooks';
import { BatchStore, WebhookBatches } from './batches';
import { JobPresenter, JobStore, WebhookJobs } from './follow';

/** Wire what shows jobs and batches to receivers of webhooks. @param links to what they have made. */
export function composeWebhookReaders(database: Database, links: ContentLinks): MessageReaders {
  return {
    jobs: new WebhookJobs(database, new JobStore(), new JobPresenter(links)).read,
    batches: new WebhookBatches(database, new BatchStore()).read,
  };
}

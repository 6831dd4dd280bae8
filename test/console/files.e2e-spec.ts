import { assets } from './suites/assets';
import { webhooks } from './suites/webhooks';
import { ConsoleStack } from './support/console-stack';

const shared = new ConsoleStack({
  workers: 1,
  settings: { MILLRACE_WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8', MILLRACE_UPLOAD_PART_BYTES: '5242880' },
});

assets(shared);
webhooks(shared);

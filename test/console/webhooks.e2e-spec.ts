import { webhooks } from './suites/webhooks';
import { ConsoleStack } from './support/console-stack';

webhooks(new ConsoleStack({ workers: 1, settings: { MILLRACE_WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' } }));

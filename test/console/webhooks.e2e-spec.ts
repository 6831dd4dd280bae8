import { finance } from './suites/finance';
import { twoPeople } from './suites/two-people';
import { webhooks } from './suites/webhooks';
import { ConsoleStack } from './support/console-stack';

const settings = {
  MILLRACE_WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
  MILLRACE_EXPORT_ALLOWED_NETWORKS: '127.0.0.0/8',
};
const shared = new ConsoleStack({ workers: 1, settings });
webhooks(shared);
finance(shared);
twoPeople(shared);

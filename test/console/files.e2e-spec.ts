import { assets } from './suites/assets';
import { models } from './suites/models';
import { ConsoleStack } from './support/console-stack';

const shared = new ConsoleStack({ workers: 1, settings: { MILLRACE_UPLOAD_PART_BYTES: '5242880' } });

assets(shared);
models(shared);

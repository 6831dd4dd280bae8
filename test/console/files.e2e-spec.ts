import { assets } from './suites/assets';
import { ConsoleStack } from './support/console-stack';

assets(new ConsoleStack({ workers: 1, settings: { MILLRACE_UPLOAD_PART_BYTES: '5242880' } }));

import { operators } from './suites/operators';
import { ConsoleStack } from './support/console-stack';

operators(new ConsoleStack({ workers: 1 }));

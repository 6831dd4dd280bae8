import { operatorActs } from './suites/operator-acts';
import { operators } from './suites/operators';
import { ConsoleStack } from './support/console-stack';

const shared = new ConsoleStack({ workers: 1 });
operators(shared);
operatorActs(shared);

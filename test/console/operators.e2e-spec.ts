import { operatorActs } from './suites/operator-acts';
import { operators } from './suites/operators';
import { outage } from './suites/outage';
import { ConsoleStack } from './support/console-stack';

const shared = new ConsoleStack({ workers: 1 });
operators(shared);
operatorActs(shared);
outage(shared);

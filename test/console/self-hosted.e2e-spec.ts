import { selfHosted } from './suites/self-hosted';
import { ConsoleStack } from './support/console-stack';

const TOKEN = 'the-one-token-of-a-service';

selfHosted(new ConsoleStack({ workers: 0, surface: 'self_hosted', settings: { MILLRACE_TOKEN: TOKEN } }), TOKEN);

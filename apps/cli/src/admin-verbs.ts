import { UsageFailure } from './failure';

/** One verb of the admin API. */
export interface AdminVerb {
  name: string;
  text: string;
  args: string[];
  /** Flags and their help; their values become fields of the body. */
  flags?: [flag: string, text: string][];
  isList?: boolean;
  /** @param ids the arguments as they stand in a path. */
  request(ids: string[], args: string[], fields: Record<string, unknown>): AdminRequest;
}

export interface AdminRequest {
  method: 'GET' | 'POST' | 'PATCH';
  path: string;
  json?: unknown;
}

const LIMITS: [string, string][] = [
  ['--plan <plan>', 'its plan'],
  ['--running-limit <number>', 'jobs that run at once'],
  ['--queue-limit <number>', 'jobs that wait at once'],
];

export const ADMIN_VERBS: readonly AdminVerb[] = [
  read('audit', 'check the invariants; exit code 1 when one does not hold', '/audit'),
  read('audit-log', 'what operators and account holders did', '/audit-log', 'list'),
  read('workers', 'the workers and what they do', '/workers', 'list'),
  read('queues', 'what waits and runs, by pool', '/queues', 'list'),
  act('drain', 'let a worker finish and take no more', 'worker', (id) => `/workers/${id}/drain`),
  act('cancel', 'cancel any job', 'job', (id) => `/jobs/${id}/cancel`),
  act('redrive', 'run the graph of a job that has ended again, as a new job', 'job', (id) => `/jobs/${id}/redrive`),
  act('start', 'start a deployment', 'deployment', (id) => `/deployments/${id}/start`),
  act('stop', 'stop a deployment', 'deployment', (id) => `/deployments/${id}/stop`),
  {
    name: 'create-account',
    text: 'a new account',
    args: ['name'],
    flags: LIMITS,
    request: (_ids, [name], fields) => ({ method: 'POST', path: '/accounts', json: { name, ...fields } }),
  },
  {
    name: 'update-account',
    text: 'change the limits or the status of an account',
    args: ['account'],
    flags: [...LIMITS, ['--status <status>', 'active or suspended']],
    request: ([id], _args, fields) => ({ method: 'PATCH', path: `/accounts/${id}`, json: fields }),
  },
  {
    name: 'create-key',
    text: 'a new API key of an account, shown this once',
    args: ['account', 'name'],
    flags: [
      ['--scopes <scopes...>', 'what it may do'],
      ['--expires-at <time>', 'when it stops working'],
    ],
    request: ([id], [, name], fields) => ({
      method: 'POST',
      path: `/accounts/${id}/api-keys`,
      json: { name, ...fields },
    }),
  },
  {
    name: 'grant',
    text: 'add credits to an account',
    args: ['account', 'credits', 'reason'],
    request: ([id], [, amount = '', reason]) => ({
      method: 'POST',
      path: `/accounts/${id}/credits`,
      json: { amount_micros: microsOf(amount), reason },
    }),
  },
  {
    name: 'create-deployment',
    text: 'a new deployment of an account',
    args: ['account', 'name'],
    flags: [
      ['--demo', 'admit callers without a credential'],
      ['--engine <engine>', 'cpu or comfyui'],
      ['--price-micros-per-second <number>', 'what a second costs'],
      ['--min-workers <number>', 'workers kept warm'],
      ['--max-workers <number>', 'workers at most'],
    ],
    request: (_ids, [accountId, name], fields) => ({
      method: 'POST',
      path: '/deployments',
      json: { account_id: accountId, name, ...fields },
    }),
  },
];

function read(name: string, text: string, path: string, kind?: 'list'): AdminVerb {
  return { name, text, args: [], isList: kind === 'list', request: () => ({ method: 'GET', path }) };
}

function act(name: string, text: string, noun: string, path: (id: string) => string): AdminVerb {
  return { name, text, args: [noun], request: ([id = '']) => ({ method: 'POST', path: path(id) }) };
}

/** Credits as typed, in micro-credits, exactly: `2.5` is 2500000. */
export function microsOf(text: string): number {
  const [, whole = '', fraction = ''] = /^(\d{1,9})(?:\.(\d{1,6}))?$/.exec(text) ?? [];
  if (whole === '')
    throw new UsageFailure(`${JSON.stringify(text)} is no amount of credits.`, 'Give one such as 25 or 0.5.');
  return Number(whole) * 1_000_000 + Number(fraction.padEnd(6, '0'));
}

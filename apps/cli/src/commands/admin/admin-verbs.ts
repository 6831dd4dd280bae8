import {
  ACCOUNT_LIMITS,
  ACCOUNT_STATUSES,
  DEPLOYMENT_LIMITS,
  ERASURE_SUBJECTS,
  OPERATOR_ROLES,
  SCOPES,
} from '@millrace/contracts';
import { parseLabels } from '../values/assignment';
import { graphFileOrNone } from '../values/graph-file';
import { LISTED } from '../values/listed';
import { modelsOrNone } from '../values/model-list';
import {
  limitOrDefault,
  oneOf,
  signedCreditMicros,
  timestamp,
  wholeNumber,
  type ReadValue,
} from '../values/typed-value';
import { argument, flag, inHelp, list, on, type AdminVerb } from './admin-verb';

/** `user=ada,team=x` as an object. */
const labelsOf: ReadValue = (text) => Object.fromEntries(parseLabels(text.split(',')));

const networksOf: ReadValue = (text) => (text === 'anywhere' ? [] : text.split(','));

const NUMBER = '<number>';
const LIMIT = '<number|default>';

const PAGE = [
  flag('limit', NUMBER, 'how many at most', wholeNumber(1, 100)),
  flag('cursor', '<cursor>', 'continue after an earlier page'),
];
const ACCOUNT_FLAGS = [
  flag('plan', '<plan>', 'its plan'),
  flag('weight', NUMBER, "its share of each pool's turns; 1 is a single share", wholeNumber(1, 1_000)),
  ...ACCOUNT_LIMITS.map(({ field, least, most, description }) =>
    flag(field, LIMIT, inHelp(description), limitOrDefault(least, most)),
  ),
];
const bounded = (field: keyof typeof DEPLOYMENT_LIMITS, text: string, shape = NUMBER): ReturnType<typeof flag> => {
  const { least, most } = DEPLOYMENT_LIMITS[field];
  return flag(field, shape, text, shape === LIMIT ? limitOrDefault(least, most) : wholeNumber(least, most));
};
const DEPLOYMENT_CHANGES = [
  flag('engine_class', '<class>', 'what its workers run on'),
  bounded('price_micros_per_second', 'what a second costs'),
  bounded('queue_limit', 'jobs that wait in it', LIMIT),
  bounded('attempt_limit_seconds', 'seconds that an attempt may take', LIMIT),
  bounded('min_workers', 'workers kept warm'),
  bounded('max_workers', 'workers at most'),
  flag('warm_up', '<file|none>', 'a graph that its workers run before they are ready', graphFileOrNone),
  flag('models', '<folder/name,...|none>', 'models that its workers have before they are ready', modelsOrNone),
  bounded('idle_seconds', 'seconds that workers without work are kept'),
];
const DEPLOYMENT_FLAGS = [
  flag('demo', '', 'admit callers without a credential'),
  flag('engine', '<engine>', 'cpu or comfyui', oneOf(['cpu', 'comfyui'])),
  ...DEPLOYMENT_CHANGES,
];
const LOG_FLAGS = [
  ...PAGE,
  flag('account_id', '<account>', 'only of this account'),
  flag('actor', '<actor>', 'only what this actor did, such as api_key:<id>'),
  flag('action', '<action>', 'only actions of this kind, such as account.update'),
  flag('subject_id', '<id>', 'only what was done to this record'),
  flag('from', '<time>', 'from this time on', timestamp),
  flag('to', '<time>', 'before this time', timestamp),
];
const MODEL_FLAGS = [
  ...PAGE,
  flag('folder', '<folder>', 'only models in this folder'),
  flag('shared', '<true|false>', 'only those that all may use, or only the others', oneOf(['true', 'false'])),
];
const WORKER_FLAGS = [
  flag('pool', '<pool>', 'only workers of this pool'),
  flag('stopped', '', 'also those that have stopped'),
];
const KEY_FLAGS = [
  flag('scopes', '<scopes...>', 'what it may do; by default everything', oneOf(SCOPES)),
  flag('labels', '<key=value,...>', 'make a sub-key: its jobs have these labels, and it sees no others', labelsOf),
  flag('allowed_addresses', '<network,...|anywhere>', 'from where it may be used; by default anywhere', networksOf),
  flag('expires_at', '<time>', 'when it stops working; by default never', timestamp),
];
const GRANT_FLAGS = [
  flag('expires_at', '<time>', 'when these credits expire; by default never', timestamp),
  flag('corrects', '<transaction>', 'the ledger transaction that this corrects'),
];
const ERASURE_FLAGS = [
  flag('job_id', '<job>', 'the job, of the subject job'),
  flag('label', '<label>', "the label's key, of the subject label, such as user"),
  flag('value', '<value>', 'its value, such as ada'),
  flag('confirm', '<sentence>', '`erase account` and its id, of the subject account'),
];
const SPEND_FLAGS = [
  flag('key_id', '<key>', 'the key, of the scope key; by default each key by itself'),
  flag('daily_micros', '<micros>', 'what jobs may cost in a day (UTC), in millionths of a credit', limitOrDefault(0)),
  flag(
    'monthly_micros',
    '<micros>',
    'what jobs may cost in a month (UTC), in millionths of a credit',
    limitOrDefault(0),
  ),
  flag('daily_at_cap', '<choice>', 'stop or finish; by default finish', oneOf(['stop', 'finish'])),
  flag('monthly_at_cap', '<choice>', 'stop or finish; by default finish', oneOf(['stop', 'finish'])),
];
const STATUS = flag('status', '<status>', 'active or suspended', oneOf(ACCOUNT_STATUSES));

/** Every operation of the admin API, in the order of the help. */
export const ADMIN_VERBS: readonly AdminVerb[] = [
  { name: 'audit', text: 'check the invariants; exit code 1 when one is violated', route: 'GET /audit' },
  list('audit-log', 'what operators and account holders did', 'GET /audit-log', {
    flags: LOG_FLAGS,
    first: LISTED.acts,
  }),
  list('workers', 'the workers and their states', 'GET /workers', { flags: WORKER_FLAGS, first: LISTED.workers }),
  list('pools', 'the pools, and what each can run', 'GET /pools'),
  list('worker-tokens', 'the tokens with which workers outside join a pool', 'GET /pools/{pool}/tokens', {
    ids: ['pool'],
  }),
  {
    ...on(
      'pool',
      'create-worker-token',
      'a new worker token of a pool, shown only this once',
      'POST /pools/{pool}/tokens',
    ),
    args: [argument('name', 'name', 'what it is for')],
    flags: [flag('expires_at', '<time>', 'when it stops working; by default never', timestamp)],
  },
  {
    name: 'revoke-worker-token',
    text: 'refuse the workers of a token from now on',
    route: 'DELETE /pools/{pool}/tokens/{id}',
    ids: ['pool', 'token'],
  },
  list('queues', 'waiting and running jobs by pool', 'GET /queues'),
  on('worker', 'drain', 'let a worker finish and take no more', 'POST /workers/{id}/drain'),
  on('worker', 'undrain', 'let a worker that drains take jobs again', 'POST /workers/{id}/undrain'),
  list('failures', 'jobs that failed, the latest first', 'GET /failures', { flags: PAGE }),
  on('job', 'job', 'any job, across its attempts', 'GET /jobs/{id}'),
  on('job', 'cancel', 'cancel any job', 'POST /jobs/{id}/cancel'),
  {
    ...on('job', 'redrive', 'run the graph of an ended job again, as a new job', 'POST /jobs/{id}/redrive'),
    takesKey: true,
  },
  list('accounts', 'the accounts, the newest first', 'GET /accounts', {
    flags: [flag('name', '<text>', 'only accounts with this in their name'), ...PAGE],
  }),
  on('account', 'account', 'one account', 'GET /accounts/{id}'),
  {
    name: 'create-account',
    text: 'a new account',
    route: 'POST /accounts',
    args: [argument('name', 'name', 'what it is called')],
    flags: ACCOUNT_FLAGS,
  },
  {
    ...on('account', 'update-account', 'change the limits or the status of an account', 'PATCH /accounts/{id}'),
    flags: [flag('name', '<name>', 'what it is called'), ...ACCOUNT_FLAGS, STATUS],
  },
  on('account', 'access', 'from where its keys may be used', 'GET /accounts/{id}/access'),
  {
    ...on('account', 'update-access', 'change from where its keys may be used', 'PATCH /accounts/{id}/access'),
    flags: [
      flag('allowed_addresses', '<network,...|anywhere>', 'addresses and networks, or anywhere', networksOf),
      flag(
        'key_max_age_seconds',
        '<seconds|default>',
        'the age at which its keys end',
        limitOrDefault(3_600, 315_360_000),
      ),
    ],
  },
  list('keys', 'the API keys of an account', 'GET /accounts/{id}/api-keys', { ids: ['account'], first: LISTED.keys }),
  {
    ...on('account', 'create-key', 'a new API key of an account, shown only this once', 'POST /accounts/{id}/api-keys'),
    args: [argument('name', 'name', 'what it is for')],
    flags: KEY_FLAGS,
  },
  {
    ...on(
      'account',
      'sign-in-link',
      'a link that signs a browser in to the console, once',
      'POST /accounts/{id}/sign-in-links',
    ),
    flags: [flag('api_key_id', '<key>', 'the key as which the session acts; by default one of its own')],
  },
  on('account', 'credits', 'the balance of an account', 'GET /accounts/{id}/credits'),
  list('spend', 'the spend caps of an account, and what is used of them', 'GET /accounts/{id}/spend', {
    ids: ['account'],
    first: LISTED.caps,
  }),
  {
    ...on('account', 'cap-spend', 'set or change a spend cap of an account', 'PUT /accounts/{id}/spend/caps'),
    args: [argument('scope', 'scope', 'account or key', oneOf(['account', 'key']))],
    flags: SPEND_FLAGS,
  },
  {
    name: 'revoke-key',
    text: 'make an API key of an account invalid at once',
    route: 'DELETE /accounts/{id}/api-keys/{key_id}',
    ids: ['account', 'key'],
  },
  {
    ...on('account', 'grant', 'give an account credits, or take some back', 'POST /accounts/{id}/credits'),
    args: [
      argument('amount_micros', 'credits', 'such as 25 or 0.5; below zero to take back', signedCreditMicros),
      argument('reason', 'reason', 'why, for the ledger and the audit log'),
    ],
    flags: GRANT_FLAGS,
    takesKey: true,
  },
  {
    ...on('account', 'rebuild-balance', 'make credits what the ledger says', 'POST /accounts/{id}/credits/rebuild'),
    flags: [flag('dry_run', '', 'show what would change, and change nothing')],
  },
  {
    ...on('account', 'export-account', 'save all that an account has as one ZIP archive', 'GET /accounts/{id}/export'),
    saves: 'account.zip',
  },
  {
    ...on('account', 'erase', 'erase a job, a label or all of an account for good', 'POST /accounts/{id}/erasures'),
    args: [argument('subject', 'subject', 'job, label or account', oneOf(ERASURE_SUBJECTS))],
    flags: ERASURE_FLAGS,
  },
  list('erasures', 'what was asked to be erased, the newest first', 'GET /erasures', { flags: PAGE }),
  on('erasure', 'erasure', 'how far an erasure is', 'GET /erasures/{id}'),
  list('deployments', 'the deployments of all accounts, the newest first', 'GET /deployments', {
    flags: PAGE,
    first: LISTED.deployments,
  }),
  on('deployment', 'deployment', 'one deployment', 'GET /deployments/{id}'),
  {
    name: 'create-deployment',
    text: 'a new deployment of an account',
    route: 'POST /deployments',
    args: [argument('account_id', 'account', 'the id of the account'), argument('name', 'name', 'what it is called')],
    flags: DEPLOYMENT_FLAGS,
  },
  {
    ...on('deployment', 'update-deployment', 'change a deployment', 'PATCH /deployments/{id}'),
    flags: [flag('name', '<name>', 'what it is called'), ...DEPLOYMENT_CHANGES],
  },
  {
    ...on('deployment', 'delete-deployment', 'delete a deployment', 'DELETE /deployments/{id}'),
    flags: [flag('drain', '', 'let its jobs end first')],
  },
  list('deployment-changes', 'what was done to a deployment', 'GET /deployments/{id}/changes', {
    ids: ['deployment'],
    flags: PAGE,
    first: LISTED.acts,
  }),
  list('deployment-versions', 'the versions of a deployment, the newest first', 'GET /deployments/{id}/versions', {
    ids: ['deployment'],
  }),
  list('add-version', 'try another version on a share of the jobs', 'POST /deployments/{id}/versions', {
    ids: ['deployment'],
    flags: [
      flag('weight', '<percent>', 'jobs that run on it; by default none', wholeNumber(0, 100)),
      ...DEPLOYMENT_CHANGES,
    ],
  }),
  list('weigh-version', 'give a version its share of the jobs', 'PATCH /deployments/{id}/versions/{version}', {
    ids: ['deployment', 'version'],
    args: [argument('weight', 'percent', 'the other version takes the rest', wholeNumber(0, 100))],
  }),
  list('roll-back', 'give all jobs to the older of two versions', 'POST /deployments/{id}/rollback', {
    ids: ['deployment'],
  }),
  list('end-version', 'end a version; the other one takes its jobs', 'DELETE /deployments/{id}/versions/{version}', {
    ids: ['deployment', 'version'],
  }),
  list('deployment-starts', 'how long its workers took to start, by phase', 'GET /deployments/{id}/starts', {
    ids: ['deployment'],
  }),
  list('models', 'the models of all accounts, the newest first', 'GET /models', { flags: MODEL_FLAGS }),
  on('model', 'model', 'one model', 'GET /models/{id}'),
  on('model', 'share-model', 'let every account use a model', 'POST /models/{id}/share'),
  on('model', 'unshare-model', 'let only its account use a model', 'POST /models/{id}/unshare'),
  on('model', 'delete-model', 'delete a model', 'DELETE /models/{id}'),
  on('deployment', 'start', 'start a deployment', 'POST /deployments/{id}/start'),
  on('deployment', 'stop', 'stop a deployment', 'POST /deployments/{id}/stop'),
  list('operator-tokens', 'the tokens of operators, the newest first', 'GET /operator-tokens'),
  {
    name: 'create-operator-token',
    text: 'a new operator token, shown only this once',
    route: 'POST /operator-tokens',
    args: [
      argument('name', 'name', 'who or what holds it; the audit log calls it token:<name>'),
      argument('role', 'role', `what it may do: ${OPERATOR_ROLES.join(', ')}`, oneOf(OPERATOR_ROLES)),
    ],
    flags: [flag('expires_at', '<time>', 'when it stops working; by default in 90 days', timestamp)],
  },
  on('token', 'revoke-operator-token', 'make an operator token invalid at once', 'DELETE /operator-tokens/{id}'),
];

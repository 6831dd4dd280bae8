const { existsSync, readdirSync } = require('node:fs');
const { join } = require('node:path');

/**
 * The import law of docs/architecture.md: imports run downwards only, siblings of one floor never see each other, each
 * technology has one owner.
 */
const FLOORS = [
  ['contracts'],
  ['workflow'],
  ['platform'],
  ['database'],
  ['messaging', 'mail'],
  ['accounts', 'deployments', 'assets', 'billing', 'webhooks'],
  ['jobs', 'fleet', 'models'],
  ['privacy'],
];
const lib = (names) => `^libs/(${names.join('|')})/`;
const spec = '/(fixtures|conformance)/|\\.(spec|int-spec|e2e-spec|timing-spec|conformance|live)\\.ts$';

/**
 * Every lib may import the libs of the floors below its own. The engines stand beside database and messaging, on platform:
 * the port and the ComfyUI engine first, the CPU engine on the port; beside them the cache of models.
 */
const downwardsOnly = FLOORS.map((floor, index) => {
  const above = [...FLOORS.slice(index + 1).flat(), 'engines', 'cpu-engine', 'model-cache'];
  return {
    name: `downwards-only-${floor.join('-')}`,
    comment: 'A lib imports only libs of lower floors.',
    severity: 'error',
    from: { path: lib(floor), pathNot: spec },
    to: { path: lib(above) },
  };
});

const DOMAINS = ['accounts', 'deployments', 'assets', 'billing', 'webhooks'];
const siblings = DOMAINS.map((name) => ({
  name: `no-siblings-of-${name}`,
  comment: 'The domains never see each other; the floors above bring them together: jobs, fleet, models and privacy.',
  severity: 'error',
  from: { path: lib([name]), pathNot: spec },
  to: { path: lib(DOMAINS.filter((other) => other !== name)) },
}));

/**
 * Rooms inside a lib or an app, floor by floor from the ground: a room imports only rooms of the floors below its own, and
 * enters them through their index. What stands beside the rooms (the lib's own index, its composition) may use all of them.
 */
const ROOMS = {
  'apps/api/src': [
    ['http', 'pages'],
    ['streams'],
    ['endpoints'],
    [
      'accounts',
      'api-keys',
      'assets',
      'audit',
      'console',
      'credits',
      'deployments',
      'exports',
      'jobs',
      'labels',
      'members',
      'openapi',
      'operations',
      'operators',
      'privacy',
      'sessions',
      'spend',
      'status',
      'webhooks',
    ],
    ['batches', 'uploads', 'mcp'],
    ['models'],
  ],
  'apps/cli/src': [['process'], ['graph', 'login'], ['client'], ['terminal'], ['follow'], ['commands']],
  'apps/worker/src': [
    ['engines', 'work-files'],
    ['attempt', 'prefetch'],
    ['remote', 'warm-up'],
  ],
  'apps/gateway/src': [['http'], ['lanes'], ['workers', 'attempts']],
  'libs/deployments/src': [['tokens', 'starts', 'versions']],
  'libs/accounts/src': [
    ['audit-log', 'known-secrets'],
    ['access', 'audit-chain', 'expiry', 'erasure'],
    ['sessions'],
    ['members', 'operators'],
  ],
  'libs/assets/src': [['store', 'media'], ['records'], ['upload', 'content'], ['retention', 'erasure']],
  'libs/jobs/src': [
    ['state', 'examination', 'figures'],
    ['rotation', 'labels', 'leases', 'objectives', 'retired'],
    ['audit', 'lifecycle'],
    ['dispatch', 'outputs', 'reuse', 'spend'],
    ['submission', 'follow'],
    ['operator', 'batches', 'erasure'],
  ],
  'libs/fleet/src': [['kubernetes']],
  'libs/billing/src': [
    ['price'],
    ['ledger'],
    ['credits', 'usage', 'audit'],
    ['exports', 'payments', 'erasure', 'repair'],
    ['delivery'],
  ],
  'libs/models/src': [['headers'], ['library', 'erasure'], ['import']],
  'libs/webhooks/src': [['receivers'], ['endpoints'], ['messages', 'erasure'], ['delivery']],
  'libs/engines/src/comfyui': [['protocol'], ['files'], ['graph', 'server'], ['run']],
  'libs/privacy/src': [['erasure', 'export'], ['notes']],
  'libs/workflow/src': [['json'], ['graph'], ['validation', 'progress']],
  'scripts/lib': [
    ['command'],
    ['system'],
    ['services', 'prisma'],
    ['postgres'],
    ['servers'],
    ['setup', 'stack', 'chart', 'testing'],
    ['pictures', 'drill', 'cluster'],
  ],
};
for (const [home, floors] of Object.entries(ROOMS)) {
  const unlisted = readdirSync(join(__dirname, home)).filter(
    (name) =>
      ['index.ts', 'index.mjs'].some((index) => existsSync(join(__dirname, home, name, index))) &&
      !floors.flat().includes(name),
  );
  if (unlisted.length > 0) throw new Error(`Give these rooms of ${home} a floor in ROOMS: ${unlisted.join(', ')}.`);
}
const roomsInside = Object.entries(ROOMS).flatMap(([home, floors]) =>
  floors.flat().map((room) => {
    const at = floors.findIndex((floor) => floor.includes(room));
    const notBelow = floors
      .slice(at)
      .flat()
      .filter((other) => other !== room);
    return { home, room, notBelow };
  }),
);
const roomsDownwardsOnly = roomsInside
  .filter(({ notBelow }) => notBelow.length > 0)
  .map(({ home, room, notBelow }) => ({
    name: `room-${home.replaceAll('/', '-')}-${room}`,
    comment: 'A room imports only rooms of the floors below its own.',
    severity: 'error',
    from: { path: `^${home}/${room}/`, pathNot: spec },
    to: { path: `^${home}/(${notBelow.join('|')})/` },
  }));
const roomsThroughTheirIndex = roomsInside.map(({ home, room }) => ({
  name: `index-of-${home.replaceAll('/', '-')}-${room}`,
  comment: 'A room is entered through its index.',
  severity: 'error',
  from: { pathNot: [spec, '\\.d\\.ts$', `^${home}/${room}/`] },
  to: { path: `^${home}/${room}/`, pathNot: `^${home}/${room}/index\\.(ts|mjs)$` },
}));

const useCasesApart = [
  ['jobs', 'fleet'],
  ['fleet', 'jobs'],
  ['jobs', 'models'],
  ['models', 'jobs'],
  ['fleet', 'models'],
  ['models', 'fleet'],
].map(([name, other]) => ({
  name: `${name}-without-${other}`,
  comment:
    'What runs jobs, what runs workers and what keeps models know nothing of each other; a process brings them together.',
  severity: 'error',
  from: { path: lib([name]), pathNot: spec },
  to: { path: lib([other]) },
}));
const fleetStandsOnDeployments = {
  name: 'fleet-stands-on-deployments',
  comment: 'The fleet knows where jobs run, and nothing of accounts, bytes and credits.',
  severity: 'error',
  from: { path: lib(['fleet']), pathNot: spec },
  to: { path: lib(['accounts', 'assets', 'billing', 'webhooks']) },
};

const modelsStandOnAssets = {
  name: 'models-stand-on-assets',
  comment:
    'A model is a name for the bytes of an asset: the library knows nothing of callers, credits and where jobs run.',
  severity: 'error',
  from: { path: lib(['models']), pathNot: spec },
  to: { path: lib(['accounts', 'billing', 'deployments', 'webhooks', 'messaging']) },
};

const owner = (name, technology, from) => ({
  name,
  comment: `${technology} has one owner.`,
  severity: 'error',
  from: { path: '^(apps|libs)/', pathNot: [spec, ...from] },
  to: { path: `node_modules/(${technology})/` },
});

/** What of the scripts imports packages, and is loaded only when they are installed. */
const AFTER_SETUP = ['^scripts/lib/chart/', '^scripts/lib/drill/', '^scripts/make-bucket\\.mjs$'];

module.exports = {
  forbidden: [
    { name: 'no-cycles', comment: 'Data flows one way.', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'resolvable',
      comment: 'Everything that is imported exists and is a dependency of ours.',
      severity: 'error',
      from: {},
      // What begins so is made by a plugin of the console's build.
      to: { couldNotResolve: true, pathNot: '^virtual:' },
    },
    ...downwardsOnly,
    ...siblings,
    ...useCasesApart,
    fleetStandsOnDeployments,
    modelsStandOnAssets,
    ...roomsDownwardsOnly,
    ...roomsThroughTheirIndex,
    {
      name: 'pure-floor',
      comment: 'contracts and workflow are TypeScript and zod: no framework, no database, no I/O.',
      severity: 'error',
      from: { path: lib(['contracts', 'workflow']), pathNot: spec },
      to: { pathNot: ['^libs/(contracts|workflow)/', 'node_modules/(zod|uuid)/'] },
    },
    {
      name: 'engines-stand-on-platform',
      comment: 'An engine knows no database, no queue, no tenants.',
      severity: 'error',
      from: { path: lib(['engines']), pathNot: spec },
      to: { path: '^libs/', pathNot: lib(['engines', 'platform', 'workflow', 'contracts']) },
    },
    {
      name: 'cpu-engine-stands-on-the-port',
      comment: 'The CPU engine is one implementation of the port of engines, and knows of nothing else.',
      severity: 'error',
      from: { path: lib(['cpu-engine']), pathNot: spec },
      to: { path: '^libs/', pathNot: lib(['cpu-engine', 'engines', 'workflow', 'contracts']) },
    },
    {
      name: 'model-cache-stands-on-platform',
      comment: 'The cache knows files of a host and a port to read models from: no database, no store, no engine.',
      severity: 'error',
      from: { path: lib(['model-cache']), pathNot: spec },
      to: { path: '^libs/', pathNot: lib(['model-cache', 'platform', 'contracts']) },
    },
    {
      name: 'engines-only-from-worker',
      comment: 'Only the worker runs workflows, and keeps what they load.',
      severity: 'error',
      from: { path: '^apps/', pathNot: '^apps/worker/' },
      to: { path: lib(['engines', 'cpu-engine', 'model-cache']) },
    },
    {
      name: 'clients-import-contracts-alone',
      comment: 'The command line and the console are clients of the public API.',
      severity: 'error',
      from: { path: '^apps/(cli|console)/', pathNot: spec },
      to: { path: '^libs/', pathNot: lib(['contracts']) },
    },
    {
      name: 'public-api-of-libs',
      comment: 'A lib is used through its index.',
      severity: 'error',
      from: { path: '^(apps|test|bench)/' },
      to: { path: '^libs/[^/]+/src/', pathNot: ['^libs/[^/]+/src/index\\.ts$'] },
    },
    {
      name: 'public-api-between-libs',
      comment: 'A lib is used through its index.',
      severity: 'error',
      from: { path: '^libs/([^/]+)/' },
      to: { path: '^libs/[^/]+/src/', pathNot: ['^libs/$1/', '^libs/[^/]+/src/index\\.ts$'] },
    },
    {
      name: 'apps-stand-alone',
      comment: 'Processes share libs, never each other.',
      severity: 'error',
      from: { path: '^apps/([^/]+)/' },
      to: { path: '^apps/', pathNot: '^apps/$1/' },
    },
    { name: 'libs-below-apps', severity: 'error', from: { path: '^libs/' }, to: { path: '^apps/' } },
    {
      name: 'testing-in-specs-only',
      comment: 'What tests are made with is not shipped.',
      severity: 'error',
      from: { path: '^(apps|libs)/', pathNot: [spec, '^libs/testing/'] },
      to: { path: '^libs/(testing/|[^/]+/(conformance|fixtures)/)' },
    },
    {
      name: 'scripts-import-no-sources',
      comment: 'apps and libs exist for the scripts once they are built: they are loaded from dist, at run time.',
      severity: 'error',
      from: { path: '^(scripts|bench)/' },
      to: { path: '^(apps|libs)/' },
    },
    {
      name: 'threads-load-little',
      comment:
        'Each thread of each process has a copy of what it loads, in a heap of its own: no client of a server is among it.',
      severity: 'error',
      from: { path: '\\.thread\\.ts$' },
      to: { path: 'node_modules/(@prisma|@nestjs|@aws-sdk|pg|bullmq|ioredis)/', reachable: true },
    },
    {
      name: 'scripts-run-from-a-fresh-clone',
      comment: 'Before set-up there are no packages: what is loaded at the start of a command imports none.',
      severity: 'error',
      from: { path: ['^scripts/', '^bench/[^/]+\\.bench\\.mjs$'], pathNot: AFTER_SETUP },
      to: { path: ['node_modules/', ...AFTER_SETUP], dynamic: false },
    },
    {
      name: 'scripts-below-benches',
      comment: 'Only the command that runs the benches knows them.',
      severity: 'error',
      from: { path: '^scripts/', pathNot: '^scripts/bench\\.mjs$' },
      to: { path: '^bench/' },
    },
    {
      name: 'loads-run-in-processes-of-their-own',
      comment: 'A bench calls its load generator over IPC, so that what it costs is not counted with the service.',
      severity: 'error',
      from: { path: '^(scripts|bench)/', pathNot: '^bench/load/' },
      to: { path: '^bench/load/' },
    },
    owner('prisma-in-database-and-stores', '@prisma/client', ['^libs/database/', '\\.store\\.ts$', '^libs/testing/']),
    owner('redis-in-messaging', 'bullmq|ioredis', ['^libs/messaging/', '^libs/testing/']),
    owner('s3-in-assets', '@aws-sdk/[^/]+', ['^libs/assets/']),
    owner('websocket-in-engines', 'ws', ['^libs/engines/', '^libs/testing/']),
    owner('tracing-in-platform', '@opentelemetry/[^/]+', ['^libs/platform/']),
    owner('caches-in-platform', 'lru-cache', ['^libs/platform/']),
    owner('stripe-in-billing', 'stripe', ['^libs/billing/']),
    owner('addresses-in-platform', 'ipaddr\\.js', [
      '^libs/platform/src/outbound/',
      '^libs/platform/src/client-address',
    ]),
    owner('calls-to-strangers-where-they-are-guarded', 'undici', ['^libs/platform/src/outbound/']),
    owner('smtp-in-mail', 'nodemailer', ['^libs/mail/']),
    owner('openid-in-its-room', 'openid-client', ['^apps/api/src/operators/']),
    owner('mcp-in-its-room', '@modelcontextprotocol/[^/]+', ['^apps/api/src/mcp/', '^libs/testing/']),
    owner('express-in-its-listeners', 'express|@types/express', [
      '^apps/api/',
      '^libs/platform/src/ops-listener\\.ts$',
    ]),
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^dist/' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};

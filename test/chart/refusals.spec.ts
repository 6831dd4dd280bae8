import { template } from './support/helm';

/** The name of a pool that is a deployment's. */
const GPU = '3f0c9b52-6f0e-4d0c-8a0e-5d8f3b1c7e21';
const GPU_POOL = { engine: 'comfyui', comfyui: { image: 'registry.example.com/comfyui:1' } };

/** Mail as it should be. */
const MAIL = {
  mail: { existingSecret: 'a' },
  settings: { MILLRACE_PUBLIC_URL: 'https://api.example.com', MILLRACE_MAIL_FROM: 'no-reply@example.com' },
};

/** A bucket outside, whose credentials no Secret has. */
const BUCKET_OF_A_ROLE = {
  s3: { bundled: { enabled: false }, external: { peers: [{ ipBlock: { cidr: '10.1.2.0/24' } }] } },
};

/** What is given over the minimal values, and the sentence that refuses it. */
const REFUSALS: [string, object, string][] = [
  ['no images', { image: { repository: '' } }, 'image.repository is not set: build the images'],
  ['no database', { postgres: { bundled: { enabled: false } } }, 'postgres.external.existingSecret is not set'],
  ['no Redis', { redis: { bundled: { enabled: false } } }, 'redis.external.existingSecret is not set'],
  [
    'two databases',
    { postgres: { external: { existingSecret: 'a' } } },
    'postgres.external.existingSecret are both set',
  ],
  ['an unreachable S3 server', { s3: { publicEndpoint: '' } }, 's3.publicEndpoint is not set'],
  [
    'credentials of the bucket that come from nowhere',
    BUCKET_OF_A_ROLE,
    's3.external.existingSecret and s3.external.roleFrom are not set',
  ],
  [
    'two sources of credentials of the bucket',
    {
      s3: {
        ...BUCKET_OF_A_ROLE.s3,
        external: { ...BUCKET_OF_A_ROLE.s3.external, existingSecret: 'a', roleFrom: 'machine' },
      },
    },
    's3.external.existingSecret and s3.external.roleFrom are both set',
  ],
  [
    'a pooler that locks cannot go past',
    { settings: { MILLRACE_DATABASE_POOLER_MODE: 'transaction' } },
    'postgres.external.directKey is not set, though settings.MILLRACE_DATABASE_POOLER_MODE',
  ],
  [
    'a user past no pooler',
    { postgres: { external: { directKey: 'direct', processKeys: { api: 'api' } } } },
    'postgres.external.processDirectKeys.api is not set, though directKey',
  ],
  [
    'a user for locks alone',
    { postgres: { external: { processDirectKeys: { worker: 'worker' } } } },
    'postgres.external.processDirectKeys.worker is set without postgres.external.processKeys.worker',
  ],
  [
    'a Prometheus that reaches nothing',
    { metrics: { serviceMonitor: { enabled: true } } },
    'networkPolicy.opsFrom is empty, though metrics.serviceMonitor.enabled',
  ],
  ['a hook without a database', { migrations: { mode: 'hook' } }, 'migrations.mode is hook'],
  [
    'a token on the cloud',
    { selfHosted: { existingSecret: 'a' } },
    'selfHosted.existingSecret is set, but surface is cloud',
  ],
  [
    'a sale of what costs nothing',
    { surface: 'self_hosted', stripe: { existingSecret: 'a' } },
    'stripe.existingSecret is set, but surface is self_hosted',
  ],
  [
    'mail with links to nowhere',
    { ...MAIL, settings: { MILLRACE_MAIL_FROM: 'no-reply@example.com' } },
    'mail.existingSecret is set without settings.MILLRACE_PUBLIC_URL',
  ],
  [
    'mail with links to an empty address',
    { ...MAIL, settings: { ...MAIL.settings, MILLRACE_PUBLIC_URL: '' } },
    'mail.existingSecret is set without settings.MILLRACE_PUBLIC_URL',
  ],
  [
    'mail whose links the API takes for its own',
    { ...MAIL, api: { settings: { MILLRACE_PUBLIC_URL: '' } } },
    'mail.existingSecret is set without settings.MILLRACE_PUBLIC_URL',
  ],
  [
    'mail from nobody',
    { ...MAIL, settings: { MILLRACE_PUBLIC_URL: 'https://api.example.com' } },
    'mail.existingSecret is set without settings.MILLRACE_MAIL_FROM',
  ],
  [
    'mail that goes to two places',
    { ...MAIL, maintenance: { settings: { MILLRACE_MAIL_FOLDER: '/tmp/mail' } } },
    'mail.existingSecret is set beside settings.MILLRACE_MAIL_FOLDER',
  ],
  [
    'mail of which the API says that it goes to two places',
    { ...MAIL, api: { settings: { MILLRACE_MAIL_FOLDER: '/tmp/mail' } } },
    'mail.existingSecret is set beside settings.MILLRACE_MAIL_FOLDER',
  ],
  [
    'operators whose provider has no name',
    { operators: { existingSecret: 'a' }, tests: { job: false }, settings: { MILLRACE_OPERATORS_ISSUER: '' } },
    'operators.existingSecret is set without a provider',
  ],
  [
    'figures that cannot be reached',
    { metrics: { status: { prometheusUrl: 'http://prometheus:9090' } } },
    'metrics.status.peers is empty',
  ],
  ['jobs for nobody', { defaultPool: 'other' }, 'defaultPool is other, which is no key of workers'],
  ['a pool that gets no job', { workers: { images: {} } }, 'workers.images would never get a job'],
  [
    'more connections than the server has',
    { postgres: { external: { maxConnections: 80 } } },
    'postgres.external.maxConnections is 80, and the processes may open 93 connections',
  ],
  ...[
    { maxSurge: 3, needed: 148 },
    // Kubernetes rounds up.
    { maxSurge: '60%', needed: 148 },
    { maxSurge: 0, needed: 126 },
  ].map(({ maxSurge, needed }): [string, object, string] => [
    `more connections than the server has while a rollout starts ${maxSurge} of four workers beside them`,
    {
      workers: { default: { replicas: 4, rollout: { maxSurge } } },
      postgres: { external: { maxConnections: 80 } },
    },
    `postgres.external.maxConnections is 80, and the processes may open ${needed} connections`,
  ]),
  ['a nameless host', { ingress: { enabled: true } }, 'ingress.host is not set'],
  [
    'a host of its own among those of deployments, without its origin',
    { ingress: { enabled: true, host: 'api.example.com' }, settings: { MILLRACE_DEPLOYMENT_DOMAIN: 'example.com' } },
    'set settings.MILLRACE_PUBLIC_URL to the origin of the API, e.g. https://api.example.com',
  ],
  [
    'a host that is taken for a deployment, by what the api is given',
    {
      ingress: { enabled: true, host: 'api.example.com' },
      api: { settings: { MILLRACE_DEPLOYMENT_DOMAIN: 'example.com' } },
    },
    'ingress.host is below settings.MILLRACE_DEPLOYMENT_DOMAIN',
  ],
  ['hosts without a domain', { ingress: { deploymentHosts: true } }, 'needs settings.MILLRACE_DEPLOYMENT_DOMAIN'],
  ['a route to nowhere', { gateway: { enabled: true } }, 'gateway.parentRefs is empty'],
  [
    'an engine without an image',
    { workers: { [GPU]: { engine: 'comfyui' } } },
    `workers.${GPU}.comfyui.image is not set`,
  ],
  [
    'GPUs for the CPU',
    { workers: { default: { gpu: { count: 1 } } } },
    'workers.default.gpu.count is 1, but the engine cpu',
  ],
  [
    'two jobs on one ComfyUI',
    { workers: { [GPU]: { ...GPU_POOL, capacity: 2 } } },
    `workers.${GPU}.capacity is 2, but a ComfyUI`,
  ],
  [
    'two workers on one server',
    { workers: { [GPU]: { engine: 'comfyui', replicas: 2, comfyui: { mode: 'external', urls: ['http://a:1'] } } } },
    'a server may have one worker only',
  ],
  [
    'servers behind a wall',
    { workers: { [GPU]: { engine: 'comfyui', comfyui: { mode: 'external', urls: ['http://a:1'] } } } },
    `workers.${GPU}.comfyui.peers is empty`,
  ],
  [
    'a cache of models that no engine can read',
    { workers: { default: { comfyui: { modelCache: { kind: 'emptyDir' } } } } },
    'workers.default.comfyui.modelCache.kind is emptyDir, but only a ComfyUI',
  ],
  [
    'a cache of models in no folder',
    { workers: { [GPU]: { ...GPU_POOL, comfyui: { ...GPU_POOL.comfyui, modelCache: { kind: 'hostPath' } } } } },
    `workers.${GPU}.comfyui.modelCache.hostPath is not set`,
  ],
  [
    'a cache of models in no volume claim',
    { workers: { [GPU]: { ...GPU_POOL, comfyui: { ...GPU_POOL.comfyui, modelCache: { kind: 'claim' } } } } },
    `workers.${GPU}.comfyui.modelCache.existingClaim is not set`,
  ],
  [
    'KEDA without Prometheus',
    { workers: { default: { autoscaling: { kind: 'keda' } } } },
    'workers.default.autoscaling.prometheusUrl is not set',
  ],
  [
    'zero by a plain HorizontalPodAutoscaler',
    { workers: { default: { autoscaling: { kind: 'hpa' } } } },
    'workers.default.autoscaling.minReplicas is 0',
  ],
  [
    'fewest above most',
    { api: { autoscaling: { enabled: true, minReplicas: 5, maxReplicas: 2 } } },
    'api.autoscaling.minReplicas is above api.autoscaling.maxReplicas',
  ],
];

/** What the schema refuses, and the name that its message must have. */
const MISFITS: [string, object, string][] = [
  ['a misspelt value', { api: { replica: 3 } }, 'replica'],
  ['a misspelt value of a pool', { workers: { default: { capcity: 3 } } }, 'capcity'],
  ['a setting that no process knows', { settings: { MILLRACE_LEASE_SECOND: 5 } }, 'MILLRACE_LEASE_SECOND'],
  ['a setting that the chart sets', { settings: { MILLRACE_PORT: 80 } }, 'MILLRACE_PORT'],
  ['an unknown surface', { surface: 'both' }, 'surface'],
  ['a pool that no message can name', { workers: { 'a b': {} } }, 'a b'],
  [
    'a Prometheus with a password',
    { metrics: { status: { prometheusUrl: 'http://a:b@prometheus' } } },
    'prometheusUrl',
  ],
  ['a Prometheus with a query', { metrics: { status: { prometheusUrl: 'http://prometheus/?a=b' } } }, 'prometheusUrl'],
  ['a digest that is none', { image: { digests: { api: 'latest' } } }, 'digests'],
  ['a digest of another that is none', { redis: { bundled: { digest: 'sha256:12' } } }, 'digest'],
];

describe('the chart refuses', () => {
  it.each(REFUSALS)('%s, with a sentence', async (_, over, sentence) => {
    const { code, stderr } = await template('minimal', over);
    expect(stderr).toContain(sentence);
    expect(code).not.toBe(0);
  });

  it.each(MISFITS)('%s, naming it', async (_, over, name) => {
    const { code, stderr } = await template('minimal', over);
    expect(stderr).toContain("values don't meet the specifications of the schema");
    expect(stderr).toContain(name);
    expect(code).not.toBe(0);
  });

  it('no mail that has an address of its own in the process that needs it', async () => {
    const { code, stderr } = await template('minimal', {
      mail: MAIL.mail,
      api: { settings: { MILLRACE_PUBLIC_URL: 'https://api.example.com' } },
      maintenance: { settings: { MILLRACE_MAIL_FROM: 'no-reply@example.com' } },
    });
    expect([code, stderr]).toEqual([0, '']);
  });

  it('no credentials of the bucket from anywhere where no network policy cuts them off', async () => {
    const { code, stderr } = await template('minimal', { ...BUCKET_OF_A_ROLE, networkPolicy: { enabled: false } });
    expect([code, stderr]).toEqual([0, '']);
  });

  it('several faults at once, a sentence each', async () => {
    const { stderr } = await template('minimal', { image: { repository: '' }, defaultPool: 'other' });
    expect(stderr).toContain('image.repository');
    expect(stderr).toContain('defaultPool');
  });
});

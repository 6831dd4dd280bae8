import { TestStack, eventually, ApiClient, type TestAccount, type TestProcess } from '@millrace/testing';
import { freePort } from '../scripts/lib/system/ports.mjs';
import { describeOfficialClient } from './contract/support/official-client-suite';

let stack: TestStack;
let account: TestAccount;
let client: ApiClient;
let gateway: TestProcess;
let otherUrl: string;
let gatewayPort: string;
interface RemoteWorker {
  process: TestProcess;
  tokenId: string;
}

const LEASE_SECONDS = 10;
/** The one that is alive. */
let workers: RemoteWorker[];

interface IssuedToken {
  id: string;
  token: string;
}

const tokensPath = (): string => `/pools/${stack.pool}/tokens`;

async function addWorker(): Promise<RemoteWorker> {
  const { id: tokenId, token } = await stack.admin<IssuedToken>('POST', tokensPath(), { name: 'a GPU at home' });
  const process = await stack.addRemoteWorker(`http://127.0.0.1:${gatewayPort}`, token);
  return { process, tokenId };
}

beforeAll(async () => {
  stack = await TestStack.start({
    workers: 0,
    settings: { MILLRACE_GATEWAY_PORT: '0', MILLRACE_LEASE_SECONDS: String(LEASE_SECONDS) },
  });
  // One to which the gateway can come back: no outgoing connection takes it meanwhile.
  gatewayPort = String(await freePort());
  gateway = await stack.spawn('gateway', { MILLRACE_GATEWAY_PORT: gatewayPort });
  account = await stack.createAccount(10_000_000_000);
  client = new ApiClient(stack.publicUrl, account.apiKey);
  const [other, worker] = await Promise.all([stack.spawn('api'), addWorker()]);
  otherUrl = other.publicUrl;
  workers = [worker];
});
afterAll(() => stack.stop());

describeOfficialClient('the cloud surface, with a worker outside the cluster', () => ({
  baseUrl: stack.publicUrl,
  otherBaseUrl: otherUrl,
  apiKey: account.apiKey,
  asksForKeys: true,
}));

const graph = (size: number, steps: number): object => ({
  '1': {
    class_type: 'MillraceReactionDiffusion',
    inputs: { width: size, height: size, steps, seed: 1, feed: 0.055, kill: 0.062 },
  },
  '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'grown' } },
});

/** A job that runs, for longer than all that a test does meanwhile takes. */
async function running(): Promise<string> {
  const { id } = await client.run(graph(512, 60_000));
  await eventually('the job to run', async () => (await client.job(id)).status === 'running', 120_000);
  return id;
}

const rowOf = (id: string) => stack.test.database.models.job.findUniqueOrThrow({ where: { id } });

/** Cancel a job that runs: what it cost is charged once, nothing is held any more, and nothing else is amiss. */
async function end(id: string): Promise<void> {
  await client.call('POST', `/api/v2/jobs/${id}/cancel`);
  expect((await client.ended(id)).status).toBe('canceled');
  expect(await stack.test.database.models.usageRecord.count({ where: { jobId: id } })).toBe(1);
  expect((await stack.admin<{ findings: unknown[] }>('GET', '/audit')).findings).toEqual([]);
}

const isAtWork = async (): Promise<void> => {
  expect((await client.ended((await client.run(graph(64, 10))).id)).status).toBe('succeeded');
};

describe('a worker outside the cluster', () => {
  it('interrupts a job that is canceled while it runs', async () => {
    await end(await running());
    await isAtWork();
  });

  it('keeps its job, or has it run again, when its gateway was killed in the middle and is back', async () => {
    const id = await running();
    await gateway.end('SIGKILL');
    gateway = await stack.spawn('gateway', { MILLRACE_GATEWAY_PORT: gatewayPort });
    const backAt = new Date();
    // A lease that was renewed, or another attempt: either has come by the gateway that is there now.
    await eventually(
      'the job to be held',
      async () => {
        const { delivery, leaseExpiresAt, status } = await rowOf(id);
        const renewedAt = (leaseExpiresAt?.getTime() ?? 0) - LEASE_SECONDS * 1_000;
        return status === 'running' && delivery === 'leased' && renewedAt > backAt.getTime();
      },
      120_000,
    );
    await end(id);
    await isAtWork();
  }, 480_000);

  it.each([
    ['it is killed', (worker: RemoteWorker) => worker.process.end('SIGKILL')],
    [
      'its token is revoked',
      (worker: RemoteWorker) => stack.admin('DELETE', `${tokensPath()}/${worker.tokenId}`).catch(() => undefined),
    ],
  ])(
    'loses its attempt to another when %s',
    async (_how, lose) => {
      const id = await running();
      const [lost] = workers.splice(0, 1, await addWorker());
      await lose(lost as RemoteWorker);
      await eventually(
        'another to run it',
        async () => {
          const { attempt, delivery } = await rowOf(id);
          return attempt === 2 && delivery === 'leased';
        },
        240_000,
      );
      await end(id);
      await isAtWork();
    },
    480_000,
  );
});

describe('a worker that cannot join', () => {
  it.each([
    ['a token that does not work', `mrw_${'x'.repeat(43)}`, {}, 'refuses the token'],
    [
      'an address that is not its own machine, in plain text',
      undefined,
      { MILLRACE_GATEWAY_URL: 'http://gateway.example.com' },
      'https',
    ],
    ['a database beside the gateway', undefined, { DATABASE_URL: 'postgresql://x' }, 'DATABASE_URL are both set'],
  ])('says so: %s', async (_what, token, settings, reason) => {
    const issued = await stack.admin<IssuedToken>('POST', tokensPath(), { name: 'x' });
    const nothing = {
      DATABASE_URL: '',
      REDIS_URL: '',
      MILLRACE_SECRET_KEY: '',
      MILLRACE_BLOB_DIR: '',
      MILLRACE_POOL: '',
    };
    const gatewaySettings = {
      MILLRACE_GATEWAY_URL: `http://127.0.0.1:${gatewayPort}`,
      MILLRACE_GATEWAY_TOKEN: token ?? issued.token,
    };
    const started = stack.spawn('worker', { ...nothing, ...gatewaySettings, ...settings });
    await expect(started).rejects.toThrow(reason);
  });
});

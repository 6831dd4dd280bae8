import { Comfy, InsufficientCredits } from '@comfyorg/sdk';
import { newId } from '@millrace/contracts';
import { TestStack, eventually, type TestAccount } from '@millrace/testing';
import { describeOfficialClient } from './contract/support/official-client-suite';
let stack: TestStack;
let account: TestAccount;
let deploymentPath: string;
let otherUrl: string;
beforeAll(async () => {
  stack = await TestStack.start();
  account = await stack.createAccount(10_000_000_000);
  const { models } = stack.test.database;
  const pool = await models.pool.create({ data: { id: `pool-${newId()}`, engine: 'cpu' } });
  const { id } = await models.deployment.create({
    data: { id: newId(), accountId: account.id, name: 'a test', poolId: pool.id },
  });
  deploymentPath = `/deployment/${id}`;
  const [other] = await Promise.all([stack.spawn('api'), stack.addWorker({ MILLRACE_POOL: pool.id })]);
  otherUrl = other.publicUrl;
});
afterAll(async () => {
  const broken = stack.api.lines.filter((line) => line.includes('request failed'));
  await stack.stop();
  expect(broken).toEqual([]);
});

describeOfficialClient('the cloud surface', () => ({
  baseUrl: stack.publicUrl,
  otherBaseUrl: otherUrl,
  apiKey: account.apiKey,
  asksForKeys: true,
}));

describeOfficialClient('a deployment under its prefix', () => ({
  baseUrl: stack.publicUrl + deploymentPath,
  otherBaseUrl: otherUrl + deploymentPath,
  apiKey: account.apiKey,
  asksForKeys: true,
}));

describe('the official client', () => {
  const connect = (apiKey: string): Comfy => {
    process.env.COMFY_BASE_URL = stack.publicUrl;
    return new Comfy({ apiKey });
  };
  const graph = {
    '1': { class_type: 'PrimitiveInt', inputs: { value: 7 } },
    '2': { class_type: 'PreviewAny', inputs: { source: ['1', 0] } },
  };

  it('throws InsufficientCredits for an account that has none', async () => {
    const client = connect((await stack.createAccount(0)).apiKey);
    await expect(client.run(client.workflows.fromJson(graph))).rejects.toBeInstanceOf(InsufficientCredits);
  });

  it('waits as long as the answer asks while the queue is full, and then gets its job with the same key', async () => {
    const small = await stack.createAccount(1_000_000_000, { queue_limit: 1, running_limit: 1 });
    const client = connect(small.apiKey);
    const long = {
      '1': {
        class_type: 'MillraceReactionDiffusion',
        inputs: { width: 512, height: 512, steps: 100_000, seed: 1, feed: 0.055, kill: 0.062 },
      },
      '2': { class_type: 'PreviewImage', inputs: { images: ['1', 0] } },
    };
    const running = await client.submit(client.workflows.fromJson(long));
    await eventually('it to run', async () => (await running.refresh()).status === 'running');
    await client.submit(client.workflows.fromJson(graph));
    const waiting = client.submit(client.workflows.fromJson(graph));
    const first = await Promise.race([waiting, new Promise((resolve) => setTimeout(resolve, 300, 'it waits'))]);
    expect(first).toBe('it waits');
    await running.cancel();
    expect((await (await waiting).wait(240_000)).status).toBe('succeeded');
  });
});

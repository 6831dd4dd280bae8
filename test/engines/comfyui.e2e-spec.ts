import { ApiClient, ComfyuiSimulator, eventually, TestStack, type NodeClass } from '@millrace/testing';

let stack: TestStack;
let client: ApiClient;
let comfyui: ComfyuiSimulator;
const classes: Record<string, NodeClass> = {};

const save = { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'out' } };
const salt = (): number => Math.floor(Math.random() * 1e9);
const stepping = (steps = 6): object => ({
  '1': { class_type: 'TestSteps', inputs: { steps, seconds_per_step: 0, salt: salt() } },
  '2': save,
});

interface ListedWorker {
  state: string;
  problem: string | null;
}

/** How the one worker says that it is. */
async function worker(): Promise<ListedWorker> {
  const row = await stack.test.database.models.worker.findFirstOrThrow({ where: { poolId: stack.env.MILLRACE_POOL } });
  return { state: row.state, problem: row.problem };
}

const attemptsOf = async (id: string): Promise<number> =>
  (await stack.test.database.models.job.findUniqueOrThrow({ where: { id } })).attempt;

beforeAll(async () => {
  comfyui = await ComfyuiSimulator.start({ classes });
  stack = await TestStack.start({
    settings: {
      MILLRACE_ENGINE: 'comfyui',
      MILLRACE_COMFYUI_URL: comfyui.url,
      MILLRACE_COMFYUI_SILENCE_SECONDS: '15',
      MILLRACE_COMFYUI_UNREACHABLE_SECONDS: '1',
    },
  });
  const account = await stack.createAccount();
  client = new ApiClient(stack.publicUrl, account.apiKey);
});

afterAll(async () => {
  await stack.stop();
  await comfyui.stop();
});

describe('a job on a ComfyUI', () => {
  it('ends with every step done and its output stored', async () => {
    const { id } = await client.run(stepping());
    const job = await client.ended(id);
    expect(job).toMatchObject({ status: 'succeeded', progress: { value: 1, nodes_done: 2, nodes_total: 2 } });
    const bytes = await client.download(job.outputs[0]?.url ?? '');
    expect(bytes.subarray(1, 4).toString()).toBe('PNG');
  });

  it('that fails names its node and has no path of the machine, and is not tried again', async () => {
    const inputs = { message: 'no /srv/models/a.bin', after_steps: 0, kind: 'ValueError', salt: salt() };
    const { id } = await client.run({ '1': { class_type: 'TestFail', inputs }, '2': save });
    const job = await client.ended(id);
    expect(job).toMatchObject({
      status: 'failed',
      error: { code: 'node_execution_error', message: 'no <path>/a.bin', node_id: '1' },
    });
    expect(await attemptsOf(id)).toBe(1);
  });

  it('that is canceled stops on the server', async () => {
    const hold = comfyui.server.holds.hold({ classType: 'TestSteps', step: 2 });
    const { id } = await client.run(stepping());
    await hold.reached;
    await client.call('POST', `/api/v2/jobs/${id}/cancel`);
    await comfyui.server.whenInterrupted(1);
    hold.release();
    expect(await client.ended(id)).toMatchObject({ status: 'canceled' });
    expect(comfyui.server.queue.remaining).toBe(0);
  });

  it('leaves the worker with the models it loaded, which the pool knows', async () => {
    const { id } = await client.run({
      '1': { class_type: 'CheckpointLoaderSimple', inputs: { ckpt_name: 'base.safetensors' } },
      '2': { class_type: 'VAESave', inputs: { vae: ['1', 2], filename_prefix: 'v' } },
    });
    await client.ended(id);
    const look = (): Promise<object | null> =>
      stack.test.database.models.worker.findFirst({ where: { residentModels: { has: 'base.safetensors' } } });
    expect(await eventually('the model to be reported', look)).not.toBeNull();
  });
});

describe('a ComfyUI that fails during a job', () => {
  it('by being killed: the job is tried again on the one that comes back', async () => {
    const hold = comfyui.server.holds.hold({ classType: 'TestSteps', step: 2 });
    const { id } = await client.run(stepping());
    await hold.reached;
    await comfyui.kill();
    await comfyui.revive();
    expect(await client.ended(id)).toMatchObject({ status: 'succeeded', progress: { value: 1 } });
    expect(await attemptsOf(id)).toBe(2);
  });

  it('by being killed for good: the worker says so and takes nothing, and no job uses up its attempts there', async () => {
    const hold = comfyui.server.holds.hold({ classType: 'TestSteps', step: 2 });
    const { id } = await client.run(stepping());
    await hold.reached;
    await comfyui.kill();
    await eventually('the worker to be unwell', async () => (await worker()).state === 'starting');
    expect((await worker()).problem).toMatch(/\w/);
    const waiting = await client.run(stepping());
    await eventually('the attempt to be given up', async () => {
      const { delivery } = await stack.test.database.models.job.findUniqueOrThrow({ where: { id } });
      return delivery !== 'leased';
    });
    await comfyui.revive();
    expect(await client.ended(id)).toMatchObject({ status: 'succeeded' });
    expect(await client.ended(waiting.id)).toMatchObject({ status: 'succeeded' });
    expect(await attemptsOf(waiting.id)).toBe(1);
  });

  it('by answering and executing nothing: the job is given up there, and tried again once it was restarted', async () => {
    const release = comfyui.server.queue.hold();
    const { id } = await client.run(stepping());
    await comfyui.server.whenPosted();
    await eventually('the worker to be unwell', async () => (await worker()).problem?.includes('given up'));
    await comfyui.kill();
    release();
    await comfyui.revive();
    expect(await client.ended(id)).toMatchObject({ status: 'succeeded' });
    expect(await attemptsOf(id)).toBe(2);
  });

  it('by a socket that says nothing: the job ends, by history, with its outputs', async () => {
    comfyui.server.sockets.setDeaf(true);
    const { id } = await client.run(stepping());
    const job = await client.ended(id);
    expect(job).toMatchObject({ status: 'succeeded', progress: { value: 1 } });
    expect(job.outputs).toHaveLength(1);
    comfyui.server.sockets.setDeaf(false);
  });
});

describe('another ComfyUI that comes in place of the first', () => {
  it('has its node classes published, and jobs that need them accepted', async () => {
    const graph = { '1': { class_type: 'Extra', inputs: {} }, '2': save };
    expect((await client.submit(JSON.stringify({ workflow: graph }))).status).toBe(422);
    await comfyui.kill();
    classes['Extra'] = { outputs: ['IMAGE'], run: () => ({ values: [{ width: 4, height: 4, colour: 1, count: 1 }] }) };
    await comfyui.revive();
    const id = await eventually('the class to be known', async () => {
      const { status, body } = await client.submit(JSON.stringify({ workflow: graph }));
      return status === 201 ? body.id : null;
    });
    expect(await client.ended(id)).toMatchObject({ status: 'succeeded' });
  });
});

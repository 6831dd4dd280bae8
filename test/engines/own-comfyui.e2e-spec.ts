import { ApiClient, createTestFolder, spawnableSimulator, TestStack, type TestFolder } from '@millrace/testing';

let stack: TestStack;
let client: ApiClient;
let folder: TestFolder;

const save = { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'out' } };

beforeAll(async () => {
  folder = await createTestFolder();
  stack = await TestStack.start({
    settings: {
      MILLRACE_ENGINE: 'comfyui',
      MILLRACE_COMFYUI_COMMAND: (await spawnableSimulator()).join(' '),
      MILLRACE_COMFYUI_DIR: folder.path,
      MILLRACE_COMFYUI_DEVICES: '0,1',
      MILLRACE_COMFYUI_SILENCE_SECONDS: '1',
    },
  });
  client = new ApiClient(stack.publicUrl, (await stack.createAccount()).apiKey);
});

afterAll(async () => {
  await stack.stop();
  await folder.drop();
});

describe('a worker that runs a ComfyUI of its own for each GPU', () => {
  it('counts each as room for one job', async () => {
    const worker = await stack.test.database.models.worker.findFirstOrThrow();
    expect(worker).toMatchObject({ engine: 'comfyui', capacity: 2 });
  });

  it('fails a job that ends the thread of every ComfyUI it meets, after its last attempt, and says so', async () => {
    const inputs = { message: '', after_steps: 0, kind: 'SystemExit', salt: 1 };
    const { id } = await client.run({ '1': { class_type: 'TestFail', inputs }, '2': save });
    const job = await client.ended(id);
    expect(job).toMatchObject({ status: 'failed', error: { message: expect.stringMatching(/\w/) as string } });
    const row = await stack.test.database.models.job.findUniqueOrThrow({ where: { id } });
    expect(row.attempt).toBe(row.maxAttempts);
  });

  it('replaces what it lost, and runs the next', async () => {
    const inputs = { steps: 3, seconds_per_step: 0, salt: 2 };
    const { id } = await client.run({ '1': { class_type: 'TestSteps', inputs }, '2': save });
    expect(await client.ended(id)).toMatchObject({ status: 'succeeded' });
  });
});

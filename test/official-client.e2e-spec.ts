import { Comfy } from '@comfyorg/sdk';
import sharp from 'sharp';
import { TestStack, type TestAccount } from '@millrace/testing';

let stack: TestStack;
let account: TestAccount;
let client: Comfy;
beforeAll(async () => {
  stack = await TestStack.start();
  account = await stack.createAccount();
  process.env.COMFY_BASE_URL = stack.publicUrl;
  client = new Comfy({ apiKey: account.apiKey });
});
afterAll(() => stack.stop());

const picture = (): Promise<Buffer> =>
  sharp({ create: { width: 8, height: 8, channels: 3, background: '#336699' } })
    .png()
    .toBuffer();

describe('the official client', () => {
  it('uploads an input, runs a graph, and saves its outputs', async () => {
    const asset = client.assets.fromBytes(await picture(), { filename: 'in.png' });
    const workflow = client.workflows.fromJson({
      '1': { class_type: 'LoadImage', inputs: {} },
      '2': { class_type: 'ImageScaleBy', inputs: { image: ['1', 0], upscale_method: 'nearest-exact', scale_by: 2 } },
      '3': { class_type: 'SaveImage', inputs: { images: ['2', 0], filename_prefix: 'out' } },
    });
    workflow.setInput('1', 'image', asset);
    const job = await client.run(workflow);
    expect(job.status).toBe('succeeded');
    const [output] = job.getOutputs('3');
    const bytes = await output?.toBytes();
    expect(
      Buffer.from(bytes ?? [])
        .subarray(1, 4)
        .toString(),
    ).toBe('PNG');
  });

  it('watches a job to its end by events', async () => {
    const workflow = client.workflows.fromJson({
      '1': {
        class_type: 'MillraceReactionDiffusion',
        inputs: { width: 128, height: 128, steps: 400, seed: 7, feed: 0.055, kill: 0.062 },
      },
      '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'grown' } },
    });
    const job = await client.submit(workflow);
    const kinds = new Set<string>();
    for await (const event of job.events()) kinds.add(event.kind);
    expect([...kinds].sort()).toEqual(expect.arrayContaining(['outputReady', 'progress', 'statusChange']));
    await job.refresh();
    expect(job.status).toBe('succeeded');
  });
});

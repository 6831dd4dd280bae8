import { pidOf } from './own-comfyui.conformance';
import { bytesOf, outputsOf, quickestStopMs, startRun, type Graph, type RunUnderTest } from '../run-workflow';
import type { OwnOptions } from '../../src/comfyui/comfyui.config';
import { ComfyuiEngine } from '../../src/comfyui/comfyui.engine';

/** What the server has to have: the shape of Stable Diffusion 1.5, and any weights (`random_checkpoint.py`). */
export const CHECKPOINTS = ['one.safetensors', 'two.safetensors'] as const;

/** A picture by Stable Diffusion 1.5, from text to pixels. Node `4` is the sampler. */
function picture(checkpoint: string, size: number, steps: number, batch = 1): Graph {
  const seed = Math.floor(Math.random() * 1e9);
  const sampler = { seed, steps, cfg: 7, sampler_name: 'euler', scheduler: 'normal', denoise: 1 };
  const links = { model: ['1', 0], positive: ['2', 0], negative: ['2', 0], latent_image: ['3', 0] };
  return {
    '1': { class_type: 'CheckpointLoaderSimple', inputs: { ckpt_name: checkpoint } },
    '2': { class_type: 'CLIPTextEncode', inputs: { text: 'a mill by a river', clip: ['1', 1] } },
    '3': { class_type: 'EmptyLatentImage', inputs: { width: size, height: size, batch_size: batch } },
    '4': { class_type: 'KSampler', inputs: { ...sampler, ...links } },
    '5': { class_type: 'VAEDecode', inputs: { samples: ['4', 0], vae: ['1', 2] } },
    '6': { class_type: 'SaveImage', inputs: { images: ['5', 0], filename_prefix: 'gpu' } },
  };
}

const fault = (kind: 'assertion' | 'illegal access'): Graph => ({
  '1': { class_type: 'TestGpuFault', inputs: { kind, salt: Math.floor(Math.random() * 1e9) } },
  '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'out' } },
});

/** What only a GPU shows: a sampler at work there, its memory full, and its errors that last. */
export function gpuSuite(name: string, ownServer: () => OwnOptions): void {
  describe(name, () => {
    const [first, second] = CHECKPOINTS;
    let engine: ComfyuiEngine;

    beforeAll(async () => {
      engine = new ComfyuiEngine({ server: ownServer() });
      await engine.start();
    });

    afterAll(() => engine.close());

    const expectPicture = async (run: RunUnderTest): Promise<void> => {
      expect(await run.result).toEqual({ status: 'succeeded' });
      expect(bytesOf(outputsOf(run)[0]).subarray(1, 4).toString()).toBe('PNG');
    };

    it('shows a sampler at work: its steps to the last, pictures meanwhile, and the models it holds', async () => {
      const run = startRun(engine, picture(first, 768, 60));
      await expectPicture(run);
      const steps = run.events.flatMap((event) => (event.type === 'node_step' && event.nodeId === '4' ? [event] : []));
      expect(steps.at(-1)).toMatchObject({ step: 60, steps: 60 });
      expect(steps.map(({ step }) => step)).toEqual(steps.map(({ step }) => step).toSorted((one, two) => one - two));
      const pictures = run.events.filter((event) => event.type === 'preview' && event.nodeId === '4');
      expect(pictures.length).toBeGreaterThan(1);
      expect(await engine.health()).toMatchObject({ ready: true, residentModels: [first] });
    });

    it('goes from one checkpoint to another and back', async () => {
      await expectPicture(startRun(engine, picture(second, 512, 4)));
      expect(await engine.health()).toMatchObject({ residentModels: [second] });
      await expectPicture(startRun(engine, picture(first, 512, 4)));
      expect(await engine.health()).toMatchObject({ residentModels: [first] });
    });

    it('stops a sampler as it begins, and in the middle; the process goes on', async () => {
      const before = pidOf(engine);
      expect(await quickestStopMs(() => startRun(engine, picture(first, 1_024, 2_000)), 2_000, '4')).toBeLessThan(
        2_000,
      );
      const run = startRun(engine, picture(first, 1_024, 2_000));
      await run.seen('node_step', ({ step }) => step >= 10);
      run.abort();
      expect(await run.result).toEqual({ status: 'interrupted' });
      await expectPicture(startRun(engine, picture(first, 512, 4)));
      expect(pidOf(engine)).toBe(before);
    });

    it('fails a run that needs more memory than the GPU has, and runs the next in the same process', async () => {
      const before = pidOf(engine);
      const run = startRun(engine, picture(first, 16_384, 2, 64));
      expect(await run.result).toMatchObject({
        status: 'failed',
        failure: {
          nodeId: '4',
          message: expect.stringMatching(
            /^This node needs more memory than the GPU has\. It asked for another \d/,
          ) as string,
        },
      });
      expect(await engine.health()).toMatchObject({ ready: true, residentModels: [] });
      await expectPicture(startRun(engine, picture(first, 512, 4)));
      expect(pidOf(engine)).toBe(before);
    });

    it('replaces a process whose code on the GPU refused what it was given', async () => {
      const before = pidOf(engine);
      const failure = { nodeId: '1', classType: 'TestGpuFault' };
      expect(await startRun(engine, fault('assertion')).result).toMatchObject({ status: 'failed', failure });
      await expectPicture(startRun(engine, picture(first, 512, 4)));
      expect(pidOf(engine)).not.toBe(before);
    });

    it('replaces a process that wrote where it must not on the GPU: the run is lost', async () => {
      const before = pidOf(engine);
      expect(await startRun(engine, fault('illegal access')).result).toEqual({
        status: 'lost',
        reason: 'The GPU broke down in node 1: CUDA error: an illegal memory access was encountered.',
      });
      await expectPicture(startRun(engine, picture(first, 512, 4)));
      expect(pidOf(engine)).not.toBe(before);
    });
  });
}

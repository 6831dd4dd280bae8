import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import {
  bytesOf,
  logOf,
  outputsOf,
  scratchDir,
  startRun,
  textOf,
  type Graph,
  type RunUnderTest,
} from '../run-workflow';
import type { ComfyuiEngine } from '../../src/comfyui/comfyui.engine';
import { isText } from '../../src/engine';

/** A ComfyUI to hold to the suite; it has the test nodes (`libs/testing/src/comfyui-simulator/test-nodes`). */
export interface SuiteTarget {
  engine: ComfyuiEngine;
  close(): Promise<void>;
}

/** A picture in a colour that no other run has, so that nothing is cached by chance. */
const source = (colour = Math.floor(Math.random() * 0xffffff)): Graph[string] => ({
  class_type: 'EmptyImage',
  inputs: { width: 32, height: 24, batch_size: 1, color: colour },
});

const save = (from: string, prefix = 'shots/cat'): Graph[string] => ({
  class_type: 'SaveImage',
  inputs: { images: [from, 0], filename_prefix: prefix },
});

const salt = (): number => Math.floor(Math.random() * 1e9);

const steps = (count: number, image?: string, secondsPerStep = 0.02): Graph[string] => ({
  class_type: 'TestSteps',
  inputs: { steps: count, seconds_per_step: secondsPerStep, salt: salt(), ...(image ? { image: [image, 0] } : {}) },
});

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47]);

function named(run: RunUnderTest): [string, string][] {
  return outputsOf(run).map((output) => [output.nodeId, isText(output) ? (textOf(output) ?? '') : output.name]);
}

/**
 * What a ComfyUI engine does, with either server behind it: the simulator in the tests, a real ComfyUI by
 * `npm run test:comfyui`.
 */
export function comfyuiSuite(name: string, open: () => Promise<SuiteTarget>): void {
  describe(name, () => {
    let target: SuiteTarget;

    beforeAll(async () => {
      target = await open();
    });

    afterAll(() => target.close());

    const start = (graph: Graph | string, work: Parameters<typeof startRun>[2] = {}): RunUnderTest =>
      startRun(target.engine, graph, work);

    it('reports nodes and steps as they happen, and hands over the file', async () => {
      const run = start({ '1': source(), '2': steps(3, '1', 0.15), '3': save('2') });
      expect(await run.result).toEqual({ status: 'succeeded' });
      const reported = run.events.filter(({ type }) => type !== 'log' && type !== 'output');
      expect(reported).toEqual([
        { type: 'started' },
        { type: 'node_started', nodeId: '1' },
        { type: 'node_finished', nodeId: '1' },
        { type: 'node_started', nodeId: '2' },
        { type: 'node_step', nodeId: '2', step: 1, steps: 3 },
        { type: 'node_step', nodeId: '2', step: 2, steps: 3 },
        { type: 'node_step', nodeId: '2', step: 3, steps: 3 },
        { type: 'node_finished', nodeId: '2' },
        { type: 'node_started', nodeId: '3' },
        { type: 'node_finished', nodeId: '3' },
      ]);
      expect(named(run)).toEqual([['3', 'cat_00001_.png']]);
      expect(bytesOf(outputsOf(run)[0]).subarray(0, 4)).toEqual(PNG);
    });

    it('hands over outputs in memory or below the folder of the run, with nothing of the graph in them', async () => {
      const run = start({ '1': { ...source(), inputs: { ...source().inputs, batch_size: 2 } }, '2': save('1') });
      expect(await run.result).toEqual({ status: 'succeeded' });
      const outputs = outputsOf(run);
      expect(outputs.map(({ index }) => index)).toEqual([0, 1]);
      for (const output of outputs) {
        if (output.kind === 'file') expect(output.path.startsWith(`${run.outputDir}/`)).toBe(true);
        expect(bytesOf(output).includes('EmptyImage')).toBe(false);
      }
    });

    it('brings whole numbers of 64 bits to the nodes digit for digit', async () => {
      const graph = `{"1":{"class_type":"PrimitiveInt","inputs":{"value":9223372036854775807}},
        "2":{"class_type":"PreviewAny","inputs":{"source":["1",0]}}}`;
      const run = start(graph);
      expect(await run.result).toEqual({ status: 'succeeded' });
      expect(named(run)).toEqual([['2', '9223372036854775807']]);
    });

    it('passes previews on with the node that they show', async () => {
      const inputs = { steps: 3, seconds_per_step: 0.02, format: 'JPEG', size: 64, salt: salt() };
      const run = start({ '7': { class_type: 'TestPreview', inputs }, '8': save('7') });
      expect(await run.result).toEqual({ status: 'succeeded' });
      const previews = run.events.filter((event) => event.type === 'preview');
      expect(previews.map(({ nodeId, contentType }) => [nodeId, contentType])).toEqual(
        Array.from({ length: 3 }, () => ['7', 'image/jpeg']),
      );
      expect(previews[0]?.data.subarray(0, 2)).toEqual(Buffer.from([0xff, 0xd8]));
    });

    it('follows a sampler step by step, with its pictures', async () => {
      const sampler = { seed: 2 ** 40, steps: 4, cfg: 2, sampler_name: 'euler', scheduler: 'normal', denoise: 1 };
      const links = { model: ['1', 0], positive: ['1', 1], negative: ['1', 1], latent_image: ['2', 0] };
      const run = start({
        '1': { class_type: 'TestTinyModel', inputs: { channels: 32, seed: salt() } },
        '2': { class_type: 'EmptyLatentImage', inputs: { width: 64, height: 64, batch_size: 1 } },
        '3': { class_type: 'KSampler', inputs: { ...sampler, ...links } },
        '4': { class_type: 'TestLatentToImage', inputs: { samples: ['3', 0] } },
        '5': save('4'),
      });
      expect(await run.result).toEqual({ status: 'succeeded' });
      const steps = run.events.flatMap((event) =>
        event.type === 'node_step' ? [[event.nodeId, event.step, event.steps]] : [],
      );
      expect(steps).toEqual([1, 2, 3, 4].map((step) => ['3', step, 4]));
      const previews = run.events.flatMap((event) => (event.type === 'preview' ? [event.nodeId] : []));
      expect(previews).toEqual(['3', '3', '3', '3']);
      expect(outputsOf(run)).toHaveLength(1);
    });

    it('names the node that fails, and says why without a path of the machine', async () => {
      const inputs = {
        message: 'boom é at /srv/secret/models/a.bin',
        after_steps: 2,
        kind: 'ValueError',
        salt: salt(),
        image: ['1', 0],
      };
      const run = start({ '1': source(), '2': save('1'), '3': { class_type: 'TestFail', inputs }, '4': save('3') });
      const result = await run.result;
      expect(result).toMatchObject({
        status: 'failed',
        failure: {
          code: 'node_execution_error',
          nodeId: '3',
          classType: 'TestFail',
          message: 'boom é at <path>/a.bin',
        },
      });
      const traceback = result.status === 'failed' ? result.failure.traceback : null;
      expect(traceback).toMatch(/^Traceback \(most recent call last\):\n {2}File "<comfyui>\/.*ValueError: boom é/s);
      expect(traceback).not.toMatch(/"\/|[^>]\/(?:tmp|srv|home|root|usr|opt)\//);
      expect(named(run)).toEqual([['2', 'cat_00001_.png']]);
    });

    it('says what lacked and what helps when a node runs out of memory, and is well afterwards', async () => {
      const message = 'CUDA out of memory. Tried to allocate 64.00 GiB. GPU 0 has a total capacity of 79.18 GiB.';
      const inputs = { message, after_steps: 1, kind: 'OutOfMemoryError', salt: salt() };
      const run = start({ '1': { class_type: 'TestFail', inputs }, '2': save('1') });
      expect(await run.result).toMatchObject({
        status: 'failed',
        failure: {
          code: 'node_execution_error',
          nodeId: '1',
          classType: 'TestFail',
          message:
            'This node needs more memory than the GPU has. It asked for another 64.00 GiB. ' +
            'Use smaller pictures, smaller batches or fewer frames.',
          traceback: expect.stringContaining(message) as string,
        },
      });
      expect(await target.engine.health()).toMatchObject({ ready: true, problem: null, residentModels: [] });
      expect(await start({ '1': source(), '2': save('1') }).result).toEqual({ status: 'succeeded' });
    });

    it('counts what an expanded node adds as its own', async () => {
      const inputs = { n: 2, fail: false, preview: true, salt: salt() };
      const run = start({ '1': { class_type: 'TestExpand', inputs }, '2': save('1') });
      expect(await run.result).toEqual({ status: 'succeeded' });
      const nodes = new Set(run.events.flatMap((event) => ('nodeId' in event ? [event.nodeId] : [])));
      expect(nodes).toEqual(new Set(['1', '2']));
      expect(
        outputsOf(run)
          .map(({ nodeId }) => nodeId)
          .sort(),
      ).toEqual(['1', '2']);
      expect(run.events.filter((event) => event.type === 'node_finished' && event.nodeId === '1')).toHaveLength(1);
    });

    it('names the expanded node when one inside it fails', async () => {
      const inputs = { n: 1, fail: true, preview: false, salt: salt() };
      const run = start({ '1': { class_type: 'TestExpand', inputs }, '2': save('1') });
      expect(await run.result).toMatchObject({
        status: 'failed',
        failure: { nodeId: '1', classType: 'TestExpand', message: 'inner boom' },
      });
    });

    it('fails a run of which a part was blocked with a message, though ComfyUI calls it a success', async () => {
      const blocked = { class_type: 'TestBlock', inputs: { message: 'not allowed', salt: salt() } };
      const run = start({ '0': source(), '9': save('0'), '1': blocked, '2': save('1') });
      expect(await run.result).toMatchObject({
        status: 'failed',
        failure: { nodeId: '2', classType: 'SaveImage', message: 'Execution Blocked: not allowed' },
      });
      expect(named(run)).toEqual([['9', 'cat_00001_.png']]);
    });

    it('lets a silently blocked part pass: that is how a graph switches it off', async () => {
      const blocked = { class_type: 'TestBlock', inputs: { message: '', salt: salt() } };
      const run = start({ '0': source(), '9': save('0'), '1': blocked, '2': save('1') });
      expect(await run.result).toEqual({ status: 'succeeded' });
      expect(named(run)).toEqual([['9', 'cat_00001_.png']]);
    });

    it('follows nodes that run at the same time', async () => {
      const asynchronous = (): Graph[string] => ({ class_type: 'TestAsync', inputs: { seconds: 0.1, salt: salt() } });
      const batch = { class_type: 'ImageBatch', inputs: { image1: ['1', 0], image2: ['2', 0] } };
      const run = start({ '1': asynchronous(), '2': asynchronous(), '3': batch, '4': save('3') });
      expect(await run.result).toEqual({ status: 'succeeded' });
      const order = run.events.flatMap((event) =>
        event.type === 'node_started' || event.type === 'node_finished' ? [`${event.type} ${event.nodeId}`] : [],
      );
      expect(order.slice(0, 2).sort()).toEqual(['node_started 1', 'node_started 2']);
      expect(order).toHaveLength(8);
      expect(outputsOf(run)).toHaveLength(2);
    });

    it('hands over text, of output nodes and of others, in every run', async () => {
      const graph: Graph = {
        '1': { class_type: 'TestText', inputs: { text: `héllo ${salt()}` } },
        '2': { class_type: 'PreviewAny', inputs: { source: ['1', 0] } },
      };
      const cacheScope = randomUUID();
      const { text } = graph['1']?.inputs ?? {};
      for (let round = 1; round <= 3; round += 1) {
        const run = start(graph, { cacheScope });
        expect(await run.result).toEqual({ status: 'succeeded' });
        expect(named(run)).toEqual([
          ['1', text],
          ['2', text],
        ]);
      }
    });

    it('survives reports that are no JSON', async () => {
      const inputs = { ui_json: '{"n":[NaN, Infinity, -Infinity]}', salt: salt() };
      const run = start({ '1': source(), '2': save('1'), '3': { class_type: 'TestCustomUI', inputs } });
      expect(await run.result).toEqual({ status: 'succeeded' });
      expect(named(run)).toEqual([['2', 'cat_00001_.png']]);
    });

    it('takes over any kind that a node reports', async () => {
      const inputs = { ui_json: '{"tags":["one","two"]}', salt: salt() };
      const run = start({ '3': { class_type: 'TestCustomUI', inputs } });
      expect(await run.result).toEqual({ status: 'succeeded' });
      expect(named(run)).toEqual([
        ['3', 'one'],
        ['3', 'two'],
      ]);
    });

    it('never hands out a file that is not of the run', async () => {
      for (const file of [
        '{"filename":"a.png","subfolder":"","type":"output"}',
        '{"filename":"../../etc/passwd","type":"temp"}',
      ]) {
        const inputs = { ui_json: `{"images":[${file}]}`, salt: salt() };
        const run = start({ '3': { class_type: 'TestCustomUI', inputs } });
        expect(await run.result).toMatchObject({ status: 'failed', failure: { code: 'engine_error', nodeId: '3' } });
        expect(outputsOf(run)).toEqual([]);
      }
    });

    it('reuses results within a scope, and never between two', async () => {
      const graph = { '1': source(), '2': steps(2, '1'), '3': save('2') };
      const cacheScope = randomUUID();
      await start(graph, { cacheScope }).result;
      const again = start(graph, { cacheScope });
      expect(await again.result).toEqual({ status: 'succeeded' });
      expect(again.events).toContainEqual({ type: 'nodes_cached', nodeIds: ['1', '2'] });
      expect(named(again)).toEqual([['3', 'cat_00001_.png']]);
      const elsewhere = start(graph);
      expect(await elsewhere.result).toEqual({ status: 'succeeded' });
      expect(elsewhere.events.some(({ type }) => type === 'nodes_cached')).toBe(false);
    });

    it('makes what is saved or shown again although all before it is cached', async () => {
      const graph: Graph = {
        '1': source(),
        '2': save('1'),
        '3': save('1'),
        '4': { class_type: 'PreviewImage', inputs: { images: ['1', 0] } },
        '5': { class_type: 'SolidMask', inputs: { value: 0.5, width: 8, height: 8 } },
        '6': { class_type: 'MaskPreview', inputs: { mask: ['5', 0] } },
      };
      const cacheScope = randomUUID();
      for (let round = 1; round <= 2; round += 1) {
        const run = start(graph, { cacheScope });
        expect(await run.result).toEqual({ status: 'succeeded' });
        const outputs = outputsOf(run);
        expect(outputs.map(({ nodeId }) => nodeId).sort()).toEqual(['2', '3', '4', '6']);
        for (const output of outputs) expect(bytesOf(output).subarray(0, 4)).toEqual(PNG);
      }
    });

    it('takes pictures that come over the socket alone for outputs', async () => {
      const images = { ...source(), inputs: { ...source().inputs, batch_size: 3 } };
      const run = start({ '1': images, '2': { class_type: 'SaveImageWebsocket', inputs: { images: ['1', 0] } } });
      expect(await run.result).toEqual({ status: 'succeeded' });
      expect(outputsOf(run).map(({ nodeId, index }) => [nodeId, index])).toEqual([
        ['2', 0],
        ['2', 1],
        ['2', 2],
      ]);
      for (const output of outputsOf(run)) expect(bytesOf(output).subarray(0, 4)).toEqual(PNG);
      expect(run.events.some(({ type }) => type === 'preview')).toBe(false);
    });

    it('hands over video, sound and latents, reported under any kind', async () => {
      const run = start({
        '1': source(),
        '2': { class_type: 'CreateVideo', inputs: { images: ['1', 0], fps: 8 } },
        '3': {
          class_type: 'SaveVideo',
          inputs: { video: ['2', 0], filename_prefix: 'video/v', format: 'auto', codec: 'auto' },
        },
        '4': { class_type: 'EmptyAudio', inputs: { duration: 0.2, sample_rate: 44100, channels: 1 } },
        '5': { class_type: 'SaveAudio', inputs: { audio: ['4', 0], filename_prefix: 'audio/a' } },
        '6': { class_type: 'EmptyLatentImage', inputs: { width: 64, height: 64, batch_size: 1 } },
        '7': { class_type: 'SaveLatent', inputs: { samples: ['6', 0], filename_prefix: 'l' } },
      });
      expect(await run.result).toEqual({ status: 'succeeded' });
      expect(named(run).sort()).toEqual([
        ['3', 'v_00001_.mp4'],
        ['5', expect.stringMatching(/^a_00001_?\.flac$/)],
        ['7', 'l_00001_.latent'],
      ]);
      for (const output of outputsOf(run)) expect(bytesOf(output).length).toBeGreaterThan(0);
    });

    it('gives nodes the files of the run, under their names in the graph', async () => {
      const made = start({ '1': source(), '2': save('1') });
      await made.result;
      const path = join(scratchDir(), 'input.png');
      writeFileSync(path, bytesOf(outputsOf(made)[0]));
      const inputs = [{ name: 'my cat – é.png', path, contentType: 'image/png' }];
      const run = start(
        { '1': { class_type: 'LoadImage', inputs: { image: 'my cat – é.png' } }, '2': save('1') },
        { inputs },
      );
      expect(await run.result).toEqual({ status: 'succeeded' });
      expect(named(run)).toEqual([['2', 'cat_00001_.png']]);
    });

    it.each(['../output/a.png', '/etc/hostname', 'example.png', 'a.png [output]', 'millrace/other/1.png'])(
      'refuses the input file %s, which did not come with the run',
      async (image) => {
        const run = start({ '1': { class_type: 'LoadImage', inputs: { image } }, '2': save('1') });
        expect(await run.result).toMatchObject({
          status: 'failed',
          failure: { code: 'input_unavailable', nodeId: '1', classType: 'LoadImage' },
        });
      },
    );

    it('fails a run whose file is not there', async () => {
      const inputs = [{ name: 'x.png', path: '/nonexistent/x.png', contentType: 'image/png' }];
      const run = start({ '1': { class_type: 'LoadImage', inputs: { image: 'x.png' } }, '2': save('1') }, { inputs });
      expect(await run.result).toMatchObject({ status: 'failed', failure: { code: 'input_unavailable' } });
    });

    it('fails a file that no decoder reads at its node', async () => {
      const path = join(scratchDir(), 'no-picture.png');
      writeFileSync(path, 'these bytes are no picture');
      const inputs = [{ name: 'x.png', path, contentType: 'image/png' }];
      const run = start({ '1': { class_type: 'LoadImage', inputs: { image: 'x.png' } }, '2': save('1') }, { inputs });
      expect(await run.result).toMatchObject({
        status: 'failed',
        failure: { code: 'node_execution_error', nodeId: '1' },
      });
    });

    it('names the node whose inputs ComfyUI does not accept', async () => {
      const wrong = { class_type: 'EmptyImage', inputs: { width: 999_999, height: 8, batch_size: 1, color: 0 } };
      const run = start({ '5': wrong, '6': save('5') });
      expect(await run.result).toMatchObject({
        status: 'failed',
        failure: { code: 'node_execution_error', nodeId: '5', classType: 'EmptyImage', traceback: null },
      });
    });

    it('does not run a graph of which ComfyUI would run only a part', async () => {
      const wrong = { class_type: 'EmptyImage', inputs: { width: 999_999, height: 8, batch_size: 1, color: 0 } };
      const run = start({ '1': source(), '2': save('1'), '5': wrong, '6': save('5') });
      expect(await run.result).toMatchObject({ status: 'failed', failure: { nodeId: '5' } });
    });

    it('captures what the code prints, in order and without what the server says', async () => {
      const printing = { class_type: 'TestStdout', inputs: { text: 'hé', lines: 2, salt: salt() } };
      const run = start({ '1': printing, '2': save('1') });
      expect(await run.result).toEqual({ status: 'succeeded' });
      const lines = [
        'STDOUT hé 0',
        'LOGGING hé 0',
        'STDOUT hé 1',
        'LOGGING hé 1',
        'the last words, with no line break',
      ];
      expect(logOf(run)).toBe(lines.join('\n'));
    });

    it('stops a run when asked, and runs the next', async () => {
      const run = start({ '1': source(), '2': steps(400, '1'), '3': save('2') });
      await run.seen('node_step', ({ step }) => step >= 2);
      run.abort();
      expect(await run.result).toEqual({ status: 'interrupted' });
      const count = run.events.length;
      const next = start({ '1': source(), '2': save('1') });
      expect(await next.result).toEqual({ status: 'succeeded' });
      expect(run.events).toHaveLength(count);
    });

    it('does not begin a run that was stopped before', async () => {
      const run = start({ '1': source(), '2': save('1') });
      run.abort();
      expect(await run.result).toEqual({ status: 'interrupted' });
    });

    it('runs one at a time', async () => {
      const run = start({ '1': source(), '2': steps(10, '1'), '3': save('2') });
      expect(await start({ '1': source(), '2': save('1') }).result).toMatchObject({ status: 'lost' });
      expect(await run.result).toEqual({ status: 'succeeded' });
    });

    it('publishes what it can run', async () => {
      const catalogue = await target.engine.catalogue();
      expect(catalogue['TestSteps']).toMatchObject({
        inputs: {
          salt: { type: 'INT', required: true, max: '18446744073709551615' },
          image: { type: 'IMAGE', required: false },
        },
        outputs: [{ type: 'IMAGE', list: false }],
        outputNode: false,
      });
      expect(catalogue['LoadImage']?.inputs['image']).toMatchObject({ type: 'COMBO', file: 'image' });
      expect(await target.engine.catalogue()).toBe(catalogue);
    });

    it('is well', async () => {
      expect(await target.engine.health()).toMatchObject({ ready: true, problem: null });
    });
  });
}

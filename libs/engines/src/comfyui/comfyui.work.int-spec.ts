import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { bytesOf, logOf, outputsOf, scratchDir, startRun, textOf, type Graph } from '../../conformance/run-workflow';
import { ComfyuiSimulator, type SimulatedServerOptions } from '@millrace/testing';
import type { AttachOptions, ComfyuiBounds } from './comfyui.config';
import { ComfyuiEngine } from './comfyui.engine';

const BOUNDS: Partial<ComfyuiBounds> = { pollMs: 20, logDrainMs: 250 };

const STEPPING: Graph = {
  '1': { class_type: 'TestSteps', inputs: { steps: 6, seconds_per_step: 0, salt: 1 } },
  '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'out' } },
};

describe('an engine attached to a ComfyUI, given work', () => {
  let simulator: ComfyuiSimulator;
  let engine: ComfyuiEngine;

  async function open(
    bounds: Partial<ComfyuiBounds> = {},
    options: Partial<SimulatedServerOptions> = {},
    attach: (simulator: ComfyuiSimulator) => Partial<AttachOptions> = () => ({}),
  ): Promise<void> {
    simulator = await ComfyuiSimulator.start(options);
    const server = { mode: 'attach' as const, url: simulator.url, ...attach(simulator) };
    engine = new ComfyuiEngine({ server, bounds: { ...BOUNDS, ...bounds } });
    await engine.start();
  }

  afterEach(async () => {
    await engine.close();
    await simulator.stop();
  });

  it('posts every literal to the letter, with ids of its own', async () => {
    await open();
    const workflow = `{"1": {"class_type": "TestSteps", "_meta": {"title": "x"}, "inputs": {
        "steps": 1.0, "seconds_per_step": 0.0500, "salt": 18446744073709551615, "unknown": ["77", 0]}},
        "2": {"class_type":"SaveImage","inputs":{"images":["1",0],"filename_prefix":"caf\\u00e9"}},
        "9": {"class_type":"Nonexistent"}}`;
    const run = startRun(engine, workflow);
    expect(await run.result).toEqual({ status: 'succeeded' });
    const [posted] = simulator.server.posted;
    expect(posted?.text).toContain('"steps":1.0,"seconds_per_step":0.0500,"salt":18446744073709551615,');
    expect(posted?.text).not.toMatch(/unknown|_meta|Nonexistent/);
    expect(posted?.text).toContain(`"filename_prefix":"millrace/${run.runId}/2/café"`);
    expect(posted?.promptId).toBe(run.runId);
  });

  it('says that it computes no more once the server has succeeded, where fetching was quick before', async () => {
    await open({ quickFetchMs: 60_000 });
    const said = async (graph: Graph): Promise<{ types: string[]; status: string }> => {
      const run = startRun(engine, graph);
      const { status } = await run.result;
      return { types: run.events.map(({ type }) => type).filter((type) => type !== 'log'), status };
    };
    const failing = {
      '1': { class_type: 'TestFail', inputs: { message: 'no', after_steps: 0, kind: 'ValueError', salt: 1 } },
      '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'a' } },
    };
    expect((await said(STEPPING)).types).not.toContain('computed');
    const { types } = await said(STEPPING);
    expect(types.filter((type) => type === 'computed')).toHaveLength(1);
    expect(types.indexOf('computed')).toBeGreaterThan(types.lastIndexOf('node_finished'));
    expect(await said(failing)).toMatchObject({
      types: expect.not.arrayContaining(['computed']) as string[],
      status: 'failed',
    });
  });

  it('hands credentials over under the names that nodes know, and lets no text repeat them', async () => {
    await open();
    const secret = 'sk-canary-1234567890';
    const run = startRun(
      engine,
      {
        '1': { class_type: 'TestStdout', inputs: { text: secret, lines: 1, salt: 1 } },
        '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'a' } },
        '3': {
          class_type: 'TestFail',
          inputs: { message: `not for ${secret}`, after_steps: 0, kind: 'ValueError', salt: 1, image: ['1', 0] },
        },
        '4': { class_type: 'SaveImage', inputs: { images: ['3', 0], filename_prefix: 'b' } },
      },
      { extraData: { api_key_vendor_org: secret, unknown_field: 'x' } },
    );
    expect(await run.result).toMatchObject({ status: 'failed' });
    const extra = /"extra_data":(\{[^}]*\})/.exec(simulator.server.posted[0]?.text ?? '')?.[1] ?? '';
    expect(JSON.parse(extra)).toMatchObject({ api_key_comfy_org: secret });
    expect(extra).not.toContain('unknown_field');
    expect(JSON.stringify([await run.result, logOf(run)])).not.toContain(secret);
  });

  it('keeps the last of what is printed when that is more than anyone reads', async () => {
    simulator = await ComfyuiSimulator.start();
    engine = new ComfyuiEngine({
      server: { mode: 'attach', url: simulator.url },
      bounds: BOUNDS,
      logTailBytes: 2_000,
    });
    await engine.start();
    const run = startRun(engine, {
      '1': { class_type: 'TestStdout', inputs: { text: 'x'.repeat(50), lines: 5_000, salt: 1 } },
      '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'a' } },
    });
    expect(await run.result).toEqual({ status: 'succeeded' });
    for (const event of run.events)
      if (event.type === 'log') expect(Buffer.byteLength(event.text)).toBeLessThanOrEqual(2_000);
    expect(logOf(run)).toMatch(/LOGGING x+ 4999\nthe last words, with no line break$/);
  });

  it('reads messages of many megabytes', async () => {
    await open();
    const text = 'long '.repeat(1_300_000);
    const run = startRun(engine, {
      '1': { class_type: 'TestText', inputs: { text } },
      '2': { class_type: 'PreviewAny', inputs: { source: ['1', 0] } },
    });
    expect(await run.result).toEqual({ status: 'succeeded' });
    expect(outputsOf(run).map((output) => textOf(output) === text)).toEqual([true, true]);
  });

  it('fails a run whose input ComfyUI does not take', async () => {
    await open();
    simulator.server.faults.next('POST /upload/image', { status: 413 });
    const path = join(scratchDir(), 'large.png');
    writeFileSync(path, Buffer.alloc(5_000_000));
    const inputs = [{ name: 'large.png', path, contentType: 'image/png' }];
    const graph: Graph = {
      '1': { class_type: 'LoadImage', inputs: { image: 'large.png' } },
      '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'a' } },
    };
    expect(await startRun(engine, graph, { inputs }).result).toMatchObject({
      status: 'failed',
      failure: { code: 'input_unavailable', message: expect.stringContaining('--max-upload-size') as unknown },
    });
  });

  it('asks for previews that name their node on every connection', async () => {
    await open();
    simulator.server.sockets.cut();
    await simulator.server.sockets.whenRegistered();
    const inputs = { steps: 1, seconds_per_step: 0, format: 'JPEG', size: 8, salt: 1 };
    const run = startRun(engine, {
      '1': { class_type: 'TestPreview', inputs },
      '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'a' } },
    });
    expect(await run.result).toEqual({ status: 'succeeded' });
    expect(simulator.server.sockets.describedPictures).toBe(1);
  });

  it('reads the catalogue again when its time is over, and gives the same object while nothing has changed', async () => {
    await open({ catalogueMs: 0 });
    const before = await engine.catalogue();
    expect(await engine.catalogue()).toBe(before);
    simulator.server.objectInfo = simulator.server.objectInfo.replaceAll('base.safetensors', 'new.safetensors');
    const after = await engine.catalogue();
    expect(after['CheckpointLoaderSimple']?.inputs['ckpt_name']?.options).toContain('new.safetensors');
    expect(before['CheckpointLoaderSimple']?.inputs['ckpt_name']?.options).not.toContain('new.safetensors');
  });

  it('knows which models the last run left in memory', async () => {
    await open();
    const graph: Graph = {
      '1': { class_type: 'CheckpointLoaderSimple', inputs: { ckpt_name: 'base.safetensors' } },
      '2': { class_type: 'VAESave', inputs: { vae: ['1', 2], filename_prefix: 'v' } },
    };
    expect(await startRun(engine, graph).result).toEqual({ status: 'succeeded' });
    expect((await engine.health()).residentModels).toEqual(['base.safetensors']);
    const again = startRun(engine, graph);
    expect(await again.result).toEqual({ status: 'succeeded' });
    expect(again.events).toContainEqual({ type: 'nodes_cached', nodeIds: ['1'] });
  });

  it.each([
    ['OutOfMemoryError', 'CUDA out of memory. Tried to allocate 2.00 GiB.'],
    ['AcceleratorError', 'CUDA error: out of memory'],
  ])('knows of no model after an %s: ComfyUI unloads all of them', async (kind, message) => {
    await open({}, { version: '0.33.0' });
    const loading: Graph = {
      '1': { class_type: 'CheckpointLoaderSimple', inputs: { ckpt_name: 'base.safetensors' } },
      '2': { class_type: 'VAESave', inputs: { vae: ['1', 2], filename_prefix: 'v' } },
    };
    const inputs = { message, after_steps: 1, kind, salt: 1 };
    const failing: Graph = {
      ...loading,
      '3': { class_type: 'TestFail', inputs },
      '4': { class_type: 'SaveImage', inputs: { images: ['3', 0], filename_prefix: 'a' } },
    };
    expect(await startRun(engine, loading).result).toEqual({ status: 'succeeded' });
    expect((await engine.health()).residentModels).toEqual(['base.safetensors']);
    expect(await startRun(engine, failing).result).toMatchObject({ status: 'failed', failure: { nodeId: '3' } });
    expect(await engine.health()).toMatchObject({ ready: true, residentModels: [] });
  });

  it('finds what a node saved without a word, where it has the folders, and leaves nothing behind', async () => {
    await open({}, {}, ({ folders }) => ({ folders }));
    const graph: Graph = {
      '1': { class_type: 'CheckpointLoaderSimple', inputs: { ckpt_name: 'base.safetensors' } },
      '2': { class_type: 'VAESave', inputs: { vae: ['1', 2], filename_prefix: 'models/mine' } },
      '3': { class_type: 'SolidMask', inputs: { value: 1, width: 4, height: 4 } },
      '4': { class_type: 'MaskPreview', inputs: { mask: ['3', 0] } },
    };
    const run = startRun(engine, graph);
    expect(await run.result).toEqual({ status: 'succeeded' });
    const [weights] = outputsOf(run).filter(({ nodeId }) => nodeId === '2');
    expect(weights).toMatchObject({ index: 0, kind: 'file', name: 'mine_00001_.safetensors' });
    expect(bytesOf(weights).toString()).toBe('weights');
    const { input, output, temp } = simulator.folders;
    expect(existsSync(join(input, 'millrace', run.runId))).toBe(false);
    expect(existsSync(join(output, 'millrace', run.runId))).toBe(false);
    expect(readdirSync(temp)).toEqual([]);
    for (const kept of outputsOf(run)) expect(kept.kind === 'file' && existsSync(kept.path)).toBe(true);
  });

  it('forgets a run on the server when it is over', async () => {
    await open();
    await startRun(engine, STEPPING).result;
    await engine.close();
    expect([...simulator.server.queue.history.keys()]).toEqual([]);
  });

  it('keeps results of one scope from another, in any order', async () => {
    await open();
    const graph: Graph = {
      '1': { class_type: 'EmptyImage', inputs: { width: 8, height: 8, batch_size: 1, color: 5 } },
      '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'a' } },
    };
    const [mine, theirs] = [randomUUID(), randomUUID()];
    for (const [cacheScope, isCached] of [
      [mine, false],
      [mine, true],
      [theirs, false],
      [theirs, true],
    ] as const) {
      const run = startRun(engine, graph, { cacheScope });
      expect(await run.result).toEqual({ status: 'succeeded' });
      expect(run.events.some(({ type }) => type === 'nodes_cached')).toBe(isCached);
    }
  });
});

import { blake3 } from '@napi-rs/blake-hash';
import { createHash, randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { ModelFile, ModelSource, Progress } from '@millrace/contracts';
import {
  ComfyuiEngine,
  type Engine,
  type EngineResult,
  type EngineRunContext,
  type EngineWork,
} from '@millrace/engines';
import { MODEL_PATHS_FILE, ModelCache, type EngineLinks } from '@millrace/model-cache';
import { Metrics, createLogger } from '@millrace/platform';
import { ComfyuiSimulator, createTestFolder, eventually, type TestFolder } from '@millrace/testing';
import { EngineSlot } from '../engines/engine-slot';
import { Attempt, type AttemptParts } from './attempt';
import { modelsLeft } from './model-staging';
import { claimedAttempt } from './fixtures/claimed-attempt';
import { Surroundings } from './fixtures/surroundings';
import { OutOfReach } from './out-of-reach';

const logger = createLogger('test', 'fatal');
const staying = new AbortController().signal;
const NAME = 'sdxl/mine.safetensors';
const OURS = Buffer.from('weights of one account');
const THEIRS = Buffer.from('weights of another');

const workflowOf = (name: string): string =>
  JSON.stringify({
    '1': { class_type: 'CheckpointLoaderSimple', inputs: { ckpt_name: name } },
    '2': { class_type: 'PreviewAny', inputs: { source: ['1', 0] } },
  });

/** A library in which two accounts have each a model of the same name. */
class Library implements ModelSource {
  readonly contents: Record<string, Buffer> = { one: OURS, other: THEIRS };
  given: (bytes: Buffer) => Promise<Buffer> | Buffer = (bytes) => bytes;

  find(accountId: string, names: readonly string[]): Promise<ModelFile[]> {
    const content = this.contents[accountId];
    if (content === undefined || !names.includes(NAME)) return Promise.resolve([]);
    const digest = blake3(content).toString('hex');
    return Promise.resolve([{ folder: 'checkpoints', name: NAME, digest, sizeBytes: content.length }]);
  }

  async open({ accountId }: { accountId: string }, range: { start: number; end: number }): Promise<Readable> {
    const bytes = this.contents[accountId] ?? Buffer.alloc(0);
    return Readable.from([await this.given(bytes.subarray(range.start, range.end))]);
  }
}

let folder: TestFolder;
let library: Library;
let cache: ModelCache;
let links: EngineLinks;
let simulator: ComfyuiSimulator;
let engine: ComfyuiEngine;
let around: Surroundings;
beforeEach(async () => {
  folder = await createTestFolder();
  library = new Library();
  cache = await ModelCache.open({
    dir: join(folder.path, 'models'),
    budgetBytes: 1_000_000,
    source: library,
    isGone: () => false,
    metrics: new Metrics('test'),
    logger,
  });
  links = await cache.linksOfEngine();
  simulator = await ComfyuiSimulator.start({ modelPaths: join(links.path, MODEL_PATHS_FILE) });
  engine = new ComfyuiEngine({
    server: { mode: 'attach', url: simulator.url },
    bounds: { catalogueMs: 0 },
    isLent: (name) => links.hasLent(name),
  });
  await engine.start();
  around = new Surroundings();
});
afterEach(async () => {
  await engine.close();
  await simulator.stop();
  await cache.close();
  await folder.drop();
});

async function partsOf(given: Partial<AttemptParts> = {}): Promise<AttemptParts> {
  const parts = around.parts(join(folder.path, 'work'), await engine.catalogue());
  return { ...parts, models: () => ({ cache, links }), ...given };
}

const claimedBy = (accountId: string, name = NAME) =>
  claimedAttempt({ jobId: randomUUID(), accountId, workflow: workflowOf(name) });

/** Run a job of an account to its end. */
async function run(accountId: string, given: Partial<AttemptParts> = {}, on: Engine = engine): Promise<void> {
  const attempt = new Attempt(await partsOf(given), claimedBy(accountId), new EngineSlot(on, logger), staying);
  await attempt.run();
}

const textOf = (content: Buffer): string => `model ${createHash('sha256').update(content).digest('hex')}`;

/** What the engine has shown of the model that it loaded, in each run so far. */
const shown = (): string[] => around.texts;
const linked = async (): Promise<string[]> =>
  (await readdir(join(links.path, 'checkpoints'), { recursive: true })).filter((name) => name.endsWith('.safetensors'));

describe('an attempt whose model is in the library alone', () => {
  it('runs with it, shows how far it is before, and takes it from the engine after', async () => {
    const messages: Progress[] = [];
    around.progressed = (progress) => void messages.push(progress);
    await run('one');
    expect(around.ends).toMatchObject([{ ending: 'succeeded' }]);
    expect(shown()).toEqual([textOf(OURS)]);
    const total_bytes = OURS.length;
    expect(messages.filter(({ staging }) => staging)).not.toEqual([]);
    expect(messages.find(({ staging }) => staging)?.staging).toMatchObject({ total_bytes });
    // With the end, that there is no more to stage.
    expect(around.ends[0]?.progress).not.toHaveProperty('staging');
    expect(around.ends[0]?.progress).toMatchObject({ value: 1 });
    expect(await linked()).toEqual([]);
  });

  it('never gets the one of another account: neither its file, nor what the engine holds of it, nor its name', async () => {
    await run('one');
    await run('other');
    await run('one');
    expect(shown()).toEqual([OURS, THEIRS, OURS].map(textOf));
    await run('third');
    expect(shown()).toHaveLength(3);
    expect(around.ends.at(-1)).toMatchObject({ ending: 'node_failed' });
    expect(JSON.stringify(around.ends.at(-1))).toContain('not in list');
  });

  it('is taken from the engine before the next run begins, where it could not be taken after its own', async () => {
    const clear = links.clear.bind(links);
    let clears = 0;
    const failing = jest.spyOn(links, 'clear').mockImplementation(async () => {
      clears += 1;
      if (clears === 2 || clears === 3) throw Object.assign(new Error('EIO: the disk failed'), { code: 'EIO' });
      await clear();
    });
    await run('one');
    expect(await linked()).toEqual([NAME]);
    // It names no model of the library of its account, and cannot be kept from that of another: this worker does not run it.
    await run('third');
    expect([shown().length, around.ends.length]).toEqual([1, 1]);
    expect(around.handedBack + around.losses.length).toBe(1);
    await run('third');
    expect([shown().length, await linked()]).toEqual([1, []]);
    expect(around.ends.at(-1)).toMatchObject({ ending: 'node_failed' });
    // What shows nothing needs no clearing.
    await run('third');
    expect(failing).toHaveBeenCalledTimes(4);
  });

  it('keeps an engine from being given runs while it cannot be taken from it, and is taken from it once it can', async () => {
    const left = modelsLeft({ models: () => ({ links }) });
    const slot = new EngineSlot(engine, logger, undefined, null, () => left(engine));
    const clear = jest.spyOn(links, 'clear').mockRejectedValue(new Error('EROFS: read-only file system'));
    await links.add(join(folder.path, 'none'), { folder: 'loras', name: 'left.safetensors' }).catch(() => undefined);
    expect(await slot.health()).toMatchObject({
      ready: false,
      problem: 'Models of a run before cannot be taken from the engine: EROFS: read-only file system',
    });
    expect(slot.isSick).toBe(true);
    clear.mockRestore();
    expect(await slot.health()).toMatchObject({ ready: true });
    expect([slot.isSick, links.mayShowModels]).toEqual([false, false]);
  });

  it('is not loaded again by the engine where the content is the same, whichever account it is for', async () => {
    library.contents['other'] = OURS;
    await run('one');
    const [first] = simulator.server.posted;
    await run('other');
    const saltOf = (text = '{}'): unknown =>
      (JSON.parse(text) as { prompt: Record<string, { inputs: Record<string, unknown> }> }).prompt['1']?.inputs[
        'millrace_salt'
      ];
    expect(saltOf(first?.text)).toEqual(expect.any(String));
    expect(saltOf(simulator.server.posted.at(-1)?.text)).toBe(saltOf(first?.text));
  });

  it('leaves no name in what the engine says that it can run, though it is asked during the run', async () => {
    const hold = simulator.server.holds.hold({ nodeId: '2' });
    const running = run('one');
    await hold.reached;
    expect(simulator.server.objectInfo).toContain(NAME);
    const during = JSON.stringify((await engine.catalogue())['CheckpointLoaderSimple']);
    hold.release();
    await running;
    expect(simulator.server.objectInfo).not.toContain(NAME);
    expect(during).toContain('base.safetensors');
    expect(during).not.toContain(NAME);
  });

  it('is billed for its engine alone, and keeps its lease, however long the model takes', async () => {
    let goOn: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (goOn = resolve));
    library.given = async (bytes) => {
      await held;
      return bytes;
    };
    const engineOf = (): Engine =>
      ({
        kind: 'cpu',
        run: (_work: EngineWork, context: EngineRunContext): Promise<EngineResult> => {
          context.onEvent({ type: 'started' });
          return Promise.resolve({ status: 'succeeded' });
        },
      }) as unknown as Engine;
    const running = run('one', { leaseSeconds: 9 }, engineOf());
    await eventually('a heartbeat was sent meanwhile', () => around.engineMs.length >= 1);
    // From here on no time passes: what is billed can only be from before.
    const clock = jest.spyOn(performance, 'now').mockReturnValue(performance.now());
    goOn();
    await running;
    clock.mockRestore();
    expect(around.engineMs.every((ms) => ms === 0)).toBe(true);
    expect(around.ends).toMatchObject([{ ending: 'succeeded', engineMs: 0 }]);
  });

  it.each(['canceled', 'drained'] as const)('ends at once when it is %s meanwhile', async (how) => {
    const leaving = new AbortController();
    let asked: () => void = () => undefined;
    const isAsked = new Promise<void>((resolve) => (asked = resolve));
    library.given = () => {
      asked();
      return new Promise(() => undefined);
    };
    const slot = new EngineSlot(engine, logger);
    const attempt = new Attempt(await partsOf(), claimedBy('one'), slot, leaving.signal);
    const running = attempt.run();
    await isAsked;
    if (how === 'drained') leaving.abort();
    else {
      around.status = 'canceling';
      await attempt.checkForCancel();
    }
    await running;
    if (how === 'drained') expect(around.handedBack).toBe(1);
    else expect(around.ends).toMatchObject([{ ending: 'canceled_while_running', engineMs: 0 }]);
    expect(simulator.server.posted).toHaveLength(0);
    expect(await linked()).toEqual([]);
  });

  it('fails with the name of the model and its node, and nothing to pay, where the bytes are others', async () => {
    library.given = (bytes) => Buffer.alloc(bytes.length);
    await run('one');
    expect(around.ends).toMatchObject([
      { ending: 'input_not_staged', engineMs: 0, failure: { code: 'input_unavailable', node_id: '1' } },
    ]);
    expect(around.ends[0]?.failure?.message).toContain(`checkpoints/${NAME}`);
    expect(around.ends[0]?.failure?.message).toContain('This attempt was not charged');
  });

  it('is left to another worker where this one does not reach the library', async () => {
    library.given = () => Promise.reject(new OutOfReach('no answer'));
    const dir = join(folder.path, randomUUID());
    const common = { source: library, isGone: () => false, metrics: new Metrics('test'), logger };
    const unretried = await ModelCache.open({ ...common, dir, budgetBytes: 1_000_000, fetch: { tries: 1 } });
    await run('one', { models: () => ({ cache: unretried, links }) });
    await unretried.close();
    expect(around).toMatchObject({ handedBack: 1, ends: [], losses: [] });
  });

  describe('and whose worker has no room for it', () => {
    let none: ModelCache;
    beforeEach(async () => {
      none = await ModelCache.open({
        dir: join(folder.path, randomUUID()),
        budgetBytes: 30,
        source: library,
        isGone: () => false,
        metrics: new Metrics('test'),
        logger,
        waits: { roomMs: 0 },
      });
      const other = await none.linksOfEngine();
      await none.stage({ accountId: 'one', files: await library.find('one', [NAME]), links: other, signal: staying });
      library.contents['large'] = Buffer.alloc(31);
    });
    afterEach(() => none.close());

    const runInNone = async (accountId: string, attempt = 1): Promise<void> => {
      const parts = await partsOf({ models: () => ({ cache: none, links }) });
      const claimed = { ...claimedBy(accountId), attempt };
      await new Attempt(parts, claimed, new EngineSlot(engine, logger), staying).run();
    };

    it('is left to one with more room, where others take the disk or its budget is too small, and says what it needs', async () => {
      await runInNone('other');
      const inUse = around.lacks[0];
      expect(inUse).toMatchObject({ neededBytes: THEIRS.length, nodeId: '1', isPassing: true });
      expect(inUse?.message).toContain(`checkpoints/${NAME}: ${THEIRS.length} bytes`);
      await runInNone('large');
      expect(around.lacks[1]).toMatchObject({ neededBytes: 31, nodeId: '1', isPassing: false });
      expect(around.lacks[1]?.message).toContain('the worker keeps at most 30 bytes');
      expect([around.ends, around.losses]).toEqual([[], []]);
    });

    it('goes round no more after ten attempts: it fails with the name of the model, or is given up where the lack passes', async () => {
      await runInNone('large', 10);
      expect([around.lacks.length, around.ends]).toEqual([1, []]);
      await runInNone('large', 11);
      expect(around.ends).toMatchObject([
        { ending: 'input_not_staged', engineMs: 0, failure: { code: 'input_unavailable', node_id: '1' } },
      ]);
      expect(around.ends[0]?.failure?.message).toContain(`checkpoints/${NAME}: 31 bytes`);
      await runInNone('other', 11);
      expect(around.losses).toMatchObject([{ by: 'worker', reason: expect.stringContaining(NAME) as string }]);
      expect(around.lacks).toHaveLength(1);
    });
  });
});

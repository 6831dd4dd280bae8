import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTestFolder, eventually, type TestFolder } from '@millrace/testing';
import { CacheFolder } from './cache-folder';
import { type EngineLinks } from './engine-links';
import { MemoryLibrary, openCache, seen, valueOf } from './fixtures/model-world';
import { type ModelCache, type ModelCacheOptions } from './model-cache';
import { ModelUnavailable } from './model-unavailable';
import type { StageRequest } from './stage-request';
import type { StagingProgress } from './wanted-models';

let folder: TestFolder;
let library: MemoryLibrary;
const opened: ModelCache[] = [];
beforeEach(async () => {
  folder = await createTestFolder();
  library = new MemoryLibrary();
});
afterEach(async () => {
  jest.restoreAllMocks();
  await Promise.all(opened.splice(0).map((cache) => cache.close()));
  await folder.drop();
});

async function open(given: Partial<ModelCacheOptions> = {}) {
  const world = await openCache(folder.path, library, given);
  opened.push(world.cache);
  return world;
}

const staying = new AbortController().signal;

function request(links: EngineLinks, files: StageRequest['files'], given: Partial<StageRequest> = {}): StageRequest {
  return { accountId: 'a', files, links, signal: staying, ...given };
}

/** What staging fails with. */
async function faultOf(staging: Promise<void>): Promise<ModelUnavailable> {
  const error: unknown = await staging.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ModelUnavailable);
  return error as ModelUnavailable;
}

const modelsOnDisk = (): Promise<string[]> => readdir(join(folder.path, 'models'));
const partsOnDisk = (): Promise<string[]> => readdir(join(folder.path, 'partial'));

describe('staging', () => {
  it('fetches in pieces, links under the folder and name, and reports how far it is', async () => {
    const { cache, metrics } = await open();
    const links = await cache.linksOfEngine();
    const base = library.add('sdxl/base.safetensors', 5_250);
    const lora = library.add('style.safetensors', 10, 'loras');
    const progress: StagingProgress[] = [];
    await cache.stage(request(links, [base, lora], { onProgress: (now) => progress.push(now) }));

    expect(await seen(links, 'sdxl/base.safetensors')).toEqual(library.contents.get(base.digest));
    expect(await seen(links, 'style.safetensors', 'loras')).toEqual(library.contents.get(lora.digest));
    expect(progress.at(-1)).toEqual({ stagedBytes: 5_260, totalBytes: 5_260 });
    const amounts = progress.map(({ stagedBytes }) => stagedBytes);
    expect(amounts).toEqual([...amounts].sort((a, b) => a - b));
    expect(await valueOf(metrics, 'millrace_model_bytes_fetched_total')).toBe(5_260);
    expect(await valueOf(metrics, 'millrace_model_cache_lookups_total', { outcome: 'miss' })).toBe(2);
    expect(await partsOnDisk()).toEqual([]);
    expect(await cache.names()).toEqual(['sdxl/base.safetensors', 'style.safetensors']);
  });

  it('fetches nothing that is there, for another engine and after a restart', async () => {
    const first = await open();
    const model = library.add('a.safetensors', 3_000);
    await first.cache.stage(request(await first.cache.linksOfEngine(), [model]));
    await first.cache.close();
    const second = await open();
    const links = await second.cache.linksOfEngine();
    await second.cache.stage(request(links, [model]));
    expect(await seen(links, 'a.safetensors')).toEqual(library.contents.get(model.digest));
    expect(library.given.get(model.digest)).toBe(3_000);
    expect(await valueOf(second.metrics, 'millrace_model_cache_lookups_total', { outcome: 'hit' })).toBe(1);
  });

  it('gives one content two names, and takes it once', async () => {
    const { cache } = await open();
    const links = await cache.linksOfEngine();
    const model = library.add('a.safetensors', 2_000);
    await cache.stage(request(links, [model, { ...model, folder: 'loras', name: 'b.safetensors' }]));
    expect(await seen(links, 'b.safetensors', 'loras')).toEqual(await seen(links, 'a.safetensors'));
    expect(library.given.get(model.digest)).toBe(2_000);
  });

  it('shows an engine the models of its run alone: those of the account before are gone', async () => {
    const { cache } = await open();
    const links = await cache.linksOfEngine();
    const [secret, open_] = [library.add('private.safetensors', 100), library.add('shared.safetensors', 100)];
    await cache.stage(request(links, [secret, open_]));
    await cache.stage(request(links, [open_], { accountId: 'b' }));
    expect(await seen(links, 'private.safetensors')).toBeNull();
    expect(await seen(links, 'shared.safetensors')).not.toBeNull();
  });

  it('gives each account its own content under the same name, on one engine and on two at once', async () => {
    const { cache } = await open();
    const [one, other] = [await cache.linksOfEngine(), await cache.linksOfEngine()];
    const [ofA, ofB] = [library.add('mine.safetensors', 500), library.add('mine.safetensors', 500)];
    await Promise.all([cache.stage(request(one, [ofA])), cache.stage(request(other, [ofB], { accountId: 'b' }))]);
    expect(await seen(one, 'mine.safetensors')).toEqual(library.contents.get(ofA.digest));
    expect(await seen(other, 'mine.safetensors')).toEqual(library.contents.get(ofB.digest));
    await cache.stage(request(one, [ofB], { accountId: 'b' }));
    expect(await seen(one, 'mine.safetensors')).toEqual(library.contents.get(ofB.digest));
  });

  it.each([1, 2])('fetches a model once that two need at the same time, in %i process(es)', async (processes) => {
    const caches = [(await open()).cache, processes === 2 ? (await open()).cache : undefined];
    const [first, second = first] = caches;
    if (!first || !second) throw new Error('no cache');
    const model = library.add('a.safetensors', 8_000);
    const links = await Promise.all([first.linksOfEngine(), second.linksOfEngine()]);
    let goOn: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (goOn = resolve));
    library.before = (_digest, at) => (at >= 4_000 ? held : undefined);
    const progress: number[] = [];
    const onProgress = ({ stagedBytes }: StagingProgress): void => void progress.push(stagedBytes);
    const stagings = [
      first.stage(request(links[0], [model])),
      second.stage(request(links[1], [model], { accountId: 'b', onProgress })),
    ];
    await eventually('the one that waits sees how far the other is', () => progress.some((bytes) => bytes >= 1_000));
    goOn();
    await Promise.all(stagings);
    expect(library.given.get(model.digest)).toBe(8_000);
    expect(library.readTwice).toEqual([]);
    for (const one of links) expect(await seen(one, 'a.safetensors')).toEqual(library.contents.get(model.digest));
  });

  it('goes on where one that was canceled has stopped', async () => {
    const { cache } = await open({ fetch: { pieceBytes: 1_000, parallel: 1 } });
    const model = library.add('a.safetensors', 6_000);
    const canceled = new AbortController();
    const reached = new Promise<void>((resolve) => {
      library.before = (_digest, at, signal) => {
        if (at < 3_000) return;
        resolve();
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('ended'))));
      };
    });
    const staging = cache.stage(request(await cache.linksOfEngine(), [model], { signal: canceled.signal }));
    await reached;
    canceled.abort(new Error('canceled'));
    await expect(staging).rejects.toThrow('canceled');
    expect(await modelsOnDisk()).toEqual([]);
    library.before = () => undefined;
    const links = await cache.linksOfEngine();
    await cache.stage(request(links, [model]));
    expect(await seen(links, 'a.safetensors')).toEqual(library.contents.get(model.digest));
    expect(library.given.get(model.digest)).toBe(6_000);
  });

  it('starts over once where the hash differs', async () => {
    const { cache } = await open();
    const model = library.add('a.safetensors', 3_000);
    let spoiled = 0;
    library.changed = (_digest, chunk) => (spoiled++ === 0 ? Buffer.alloc(chunk.length) : chunk);
    const links = await cache.linksOfEngine();
    await cache.stage(request(links, [model]));
    expect(await seen(links, 'a.safetensors')).toEqual(library.contents.get(model.digest));
    expect(library.given.get(model.digest)).toBe(6_000);
  });

  it('names the model whose hash differs again, and keeps nothing of it', async () => {
    const { cache, metrics } = await open();
    const model = library.add('a.safetensors', 3_000);
    library.changed = (_digest, chunk) => Buffer.alloc(chunk.length);
    const fault = await faultOf(cache.stage(request(await cache.linksOfEngine(), [model])));
    expect(fault).toMatchObject({ fault: 'mismatch' });
    expect(await valueOf(metrics, 'millrace_model_cache_failures_total', { reason: 'mismatch' })).toBe(1);
    expect(await valueOf(metrics, 'millrace_model_cache_failures_total')).toBe(1);
    expect(fault.message).toContain('checkpoints/a.safetensors');
    expect(await modelsOnDisk()).toEqual([]);
    expect(await partsOnDisk()).toEqual([]);
    expect(library.given.get(model.digest)).toBe(6_000);
  });

  it('asks again where the store fails, sends too little or stalls, and says so where it goes on', async () => {
    const { cache } = await open({
      fetch: { pieceBytes: 1_000, tries: 30, stallMs: 40, retryBaseMs: 1, retryCapMs: 2, parallel: 1 },
    });
    const model = library.add('a.safetensors', 2_000);
    let failures = 0;
    library.before = (_digest, at) => {
      failures += 1;
      if (failures === 1) throw new Error('reset');
      if (failures === 2 && at >= 0) return new Promise(() => undefined);
      return undefined;
    };
    const links = await cache.linksOfEngine();
    await cache.stage(request(links, [model]));
    expect(await seen(links, 'a.safetensors')).toEqual(library.contents.get(model.digest));

    const other = library.add('b.safetensors', 2_000);
    library.before = () => new Promise(() => undefined);
    expect(await faultOf(cache.stage(request(links, [other])))).toMatchObject({
      fault: 'unreachable',
      message: expect.stringContaining('checkpoints/b.safetensors') as string,
    });
  });

  it('names a model that an engine cannot have beside another of the run', async () => {
    const { cache } = await open();
    const files = ['a.sft', 'a.sft/b.sft'].map((name) => library.add(name, 10));
    for (const given of [files, files.toReversed()]) {
      const fault = await faultOf(cache.stage(request(await cache.linksOfEngine(), given)));
      expect(fault).toMatchObject({ fault: 'name_taken', model: given[1]?.name });
    }
  });

  it('says at once where the library has the bytes no more', async () => {
    const { cache } = await open();
    const model = { ...library.add('a.safetensors', 10), digest: '0'.repeat(64) };
    expect(await faultOf(cache.stage(request(await cache.linksOfEngine(), [model])))).toMatchObject({ fault: 'gone' });
  });

  it('evicts what was used least recently, and never what an engine has', async () => {
    const { cache, metrics } = await open({ budgetBytes: 3_000 });
    const [one, other] = [await cache.linksOfEngine(), await cache.linksOfEngine()];
    const models = ['a', 'b', 'c', 'd'].map((name) => library.add(`${name}.safetensors`, 1_000));
    const [a, b, c, d] = models as [(typeof models)[0], (typeof models)[0], (typeof models)[0], (typeof models)[0]];
    await cache.stage(request(one, [a]));
    await cache.stage(request(other, [b]));
    await cache.stage(request(other, [c]));
    await cache.stage(request(other, [d]));
    expect((await modelsOnDisk()).sort()).toEqual([a.digest, c.digest, d.digest].sort());
    expect(await seen(one, 'a.safetensors')).toEqual(library.contents.get(a.digest));
    expect(await valueOf(metrics, 'millrace_model_cache_evictions_total')).toBe(1);
    expect(await cache.names()).toEqual(['a.safetensors', 'c.safetensors', 'd.safetensors']);
  });

  it('refuses models that are larger than the whole cache, and names them', async () => {
    const { cache } = await open({ budgetBytes: 2_500 });
    const files = [library.add('a.safetensors', 2_000), library.add('b.safetensors', 1_000)];
    const fault = await faultOf(cache.stage(request(await cache.linksOfEngine(), files)));
    expect(fault).toMatchObject({ fault: 'too_large', isPassing: false });
    expect(fault.message).toContain('checkpoints/b.safetensors: 1.0 KB');
    expect(fault.neededBytes).toBe(3_000);
    expect(library.given.size).toBe(0);
  });

  it('waits for the room that another engine holds, and takes it when it is free', async () => {
    const { cache } = await open({ budgetBytes: 2_000 });
    const [one, other] = [await cache.linksOfEngine(), await cache.linksOfEngine()];
    const [a, b] = [library.add('a.safetensors', 1_500), library.add('b.safetensors', 1_500)];
    await cache.stage(request(one, [a]));
    const make = jest.spyOn(CacheFolder.prototype, 'freeBytes');
    const staging = cache.stage(request(other, [b]));
    await eventually('it has looked for room twice', () => make.mock.calls.length >= 2);
    expect(library.given.has(b.digest)).toBe(false);
    make.mockRestore();
    await one.clear();
    await staging;
    expect(await seen(other, 'b.safetensors')).toEqual(library.contents.get(b.digest));
  });

  it('says that the disk is full where others hold it for too long, and where nobody does', async () => {
    const { cache } = await open({ budgetBytes: 2_000, waits: { lookMs: 1, roomMs: 0 } });
    const [one, other] = [await cache.linksOfEngine(), await cache.linksOfEngine()];
    const [a, b] = [library.add('a.safetensors', 1_500), library.add('b.safetensors', 1_900)];
    await cache.stage(request(one, [a]));
    const passing = await faultOf(cache.stage(request(other, [b])));
    expect(passing).toMatchObject({ fault: 'disk_full', isPassing: true, neededBytes: 1_900 });
    expect(passing.message).toContain('no room at the moment');
    await one.clear();
    jest.spyOn(CacheFolder.prototype, 'freeBytes').mockResolvedValue(100);
    const fault = await faultOf(cache.stage(request(other, [b])));
    expect(fault).toMatchObject({ fault: 'disk_full', message: expect.stringContaining('b.safetensors') as string });
    expect(fault.isPassing).toBe(false);
    expect(await partsOnDisk()).toEqual([]);
  });

  it('waits for no room that it takes itself: models that are too large for the disk together', async () => {
    const { cache } = await open({ budgetBytes: 9_000, waits: { lookMs: 1, roomMs: 600_000 } });
    const links = await cache.linksOfEngine();
    const [a, b] = [library.add('a.safetensors', 1_500), library.add('b.safetensors', 1_500)];
    await cache.stage(request(links, [a]));
    jest.spyOn(CacheFolder.prototype, 'freeBytes').mockResolvedValue(100);
    const fault = await faultOf(cache.stage(request(links, [a, b])));
    expect(fault).toMatchObject({ fault: 'disk_full', isPassing: false, neededBytes: 3_000 });
  });

  it('can hold what its budget says, or less where the disk with all that the cache has on it is smaller', async () => {
    const { cache } = await open({ budgetBytes: 4_000 });
    const links = await cache.linksOfEngine();
    expect(await cache.capacityBytes()).toBe(4_000);
    await cache.stage(request(links, [library.add('a.safetensors', 1_500)]));
    // A model that is to be fetched: as long as the whole, and on the disk not yet.
    await (await CacheFolder.open(folder.path)).reserve(library.add('b.safetensors', 2_000));
    jest.spyOn(CacheFolder.prototype, 'freeBytes').mockResolvedValue(1_000);
    expect(await cache.capacityBytes()).toBe(2_500);
  });

  it('never evicts a model that is whole and about to be linked', async () => {
    const [{ cache: one }, { cache: other }] = [
      await open({ budgetBytes: 1_500 }),
      await open({ budgetBytes: 1_500, waits: { lookMs: 2, roomMs: 0 } }),
    ];
    const [mine, theirs] = [await one.linksOfEngine(), await other.linksOfEngine()];
    const [a, b] = [library.add('a.safetensors', 1_000), library.add('b.safetensors', 1_000)];
    const add = mine.add.bind(mine);
    let refused: ModelUnavailable | null = null;
    jest.spyOn(mine, 'add').mockImplementation(async (from, target) => {
      expect(await modelsOnDisk()).toEqual([a.digest]);
      refused = await faultOf(other.stage(request(theirs, [b])));
      return add(from, target);
    });
    await one.stage(request(mine, [a]));
    expect(refused).toMatchObject({ fault: 'disk_full', isPassing: true });
    expect(await seen(mine, 'a.safetensors')).toEqual(library.contents.get(a.digest));
  });

  it('evicts for a disk that has less room than its budget', async () => {
    const { cache } = await open();
    const links = await cache.linksOfEngine();
    const [a, b] = [library.add('a.safetensors', 1_500), library.add('b.safetensors', 1_500)];
    await cache.stage(request(links, [a]));
    jest.spyOn(CacheFolder.prototype, 'freeBytes').mockResolvedValue(100);
    await cache.stage(request(links, [b]));
    expect(await modelsOnDisk()).toEqual([b.digest]);
  });

  it('does not take a file of another length for the model, and has pieces that nobody fetches make room first', async () => {
    const { cache } = await open({ budgetBytes: 4_000 });
    const links = await cache.linksOfEngine();
    const [a, b] = [library.add('a.safetensors', 1_500), library.add('b.safetensors', 2_000)];
    await writeFile(join(folder.path, 'models', a.digest), 'half');
    const left = await (await CacheFolder.open(folder.path)).reserve(library.add('left.safetensors', 2_000));
    await cache.stage(request(links, [a]));
    await cache.stage(request(links, [b]));
    expect(await seen(links, 'b.safetensors')).toEqual(library.contents.get(b.digest));
    expect((await modelsOnDisk()).sort()).toEqual([a.digest, b.digest].sort());
    await expect(stat(left)).rejects.toThrow('ENOENT');
  });
});

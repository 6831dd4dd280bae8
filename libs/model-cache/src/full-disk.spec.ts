import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ModelFile } from '@millrace/contracts';
import { createTestFolder, eventually, type TestFolder } from '@millrace/testing';
import { CacheFolder } from './cache-folder';
import type { EngineLinks } from './engine-links';
import { MemoryLibrary, openCache, seen } from './fixtures/model-world';
import { smallDisk } from './fixtures/small-disk';
import type { ModelCache, ModelCacheOptions } from './model-cache';

jest.mock('node:fs/promises', () => jest.requireActual<{ onSmallDisk: object }>('./fixtures/small-disk').onSmallDisk);

const KIB = 1_024;
const MIB = 1_024 * KIB;

let folder: TestFolder;
let library: MemoryLibrary;
const opened: ModelCache[] = [];
beforeEach(async () => {
  folder = await createTestFolder();
  library = new MemoryLibrary();
  library.chunkBytes = 32 * KIB;
  Object.assign(smallDisk, { path: folder.path, bytes: 3 * MIB });
});
afterEach(async () => {
  smallDisk.bytes = Number.POSITIVE_INFINITY;
  await Promise.all(opened.splice(0).map((cache) => cache.close()));
  await folder.drop();
});

async function open(given: Partial<ModelCacheOptions> = {}): Promise<ModelCache> {
  const fetch = { pieceBytes: 64 * KIB, retryBaseMs: 1, retryCapMs: 2, parallel: 1 };
  const { cache } = await openCache(folder.path, library, { budgetBytes: 100 * MIB, fetch, ...given });
  opened.push(cache);
  return cache;
}

const stage = (cache: ModelCache, links: EngineLinks, files: ModelFile[]): Promise<void> =>
  cache.stage({ accountId: 'a', files, links, signal: new AbortController().signal });
/** Whether an engine finds a model. Its bytes are too many to be compared by jest. */
const finds = async (links: EngineLinks, { digest }: ModelFile, name: string): Promise<boolean> =>
  (await seen(links, name))?.equals(library.contents.get(digest) ?? Buffer.alloc(0)) ?? false;
const namesIn = (part: string): Promise<string[]> => readdir(join(folder.path, part));
/** What is left of locks that nobody holds: the presence of each cache that is open stays. */
const otherLocks = async (): Promise<string[]> =>
  (await namesIn('locks')).filter((name) => !/^engines\.[0-9a-f-]+\.lock$/.test(name));

describe('a disk that is smaller than the budget of the cache', () => {
  it('has two models that fit alone fetched one after the other: what is to come of the first takes its room', async () => {
    const cache = await open({ waits: { lookMs: 2, roomMs: 600_000 } });
    const [one, other] = [await cache.linksOfEngine(), await cache.linksOfEngine()];
    const [a, b] = [library.add('a.safetensors', 1_200 * KIB), library.add('b.safetensors', 1_200 * KIB)];
    let goOn: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (goOn = resolve));
    library.before = (digest) => (digest === a.digest ? held : undefined);
    const first = stage(cache, one, [a]);
    await eventually('the first has its room', async () => (await namesIn('partial')).length === 1);
    const looks = jest.spyOn(CacheFolder.prototype, 'freeBytes');
    const second = stage(cache, other, [b]);
    await eventually('the second has looked for room twice', () => looks.mock.calls.length >= 3);
    looks.mockRestore();
    expect(library.given.size).toBe(0);
    goOn();
    await first;
    expect(await finds(one, a, 'a.safetensors')).toBe(true);
    await one.clear();
    await second;
    expect(await finds(other, b, 'b.safetensors')).toBe(true);
  });
});

describe('a disk that another program has filled', () => {
  it('keeps no pieces of a model that finds no room on it, nor anything of locks, and takes the model once there is room again', async () => {
    const cache = await open();
    const links = await cache.linksOfEngine();
    const model = library.add('a.safetensors', 1_000 * KIB);
    library.before = (_digest, at) => (at >= 300 * KIB ? smallDisk.fill() : undefined);
    await expect(stage(cache, links, [model])).rejects.toMatchObject({ fault: 'disk_full' });
    expect([await namesIn('partial'), await otherLocks()]).toEqual([[], []]);

    library.before = () => undefined;
    smallDisk.bytes = 3 * MIB;
    await stage(cache, links, [model]);
    expect(await finds(links, model, 'a.safetensors')).toBe(true);
  });

  it('has the models that are there linked, which takes no room', async () => {
    const cache = await open();
    const [one, other] = [await cache.linksOfEngine(), await cache.linksOfEngine()];
    const model = library.add('a.safetensors', 500 * KIB);
    await stage(cache, one, [model]);
    smallDisk.fill();
    await stage(cache, other, [model, { ...model, name: 'under another name.safetensors' }]);
    expect(await finds(other, model, 'under another name.safetensors')).toBe(true);
    expect(await otherLocks()).toEqual([]);
  });

  it('has models that nobody uses and pieces that nobody fetches make room, although no lock can be written', async () => {
    smallDisk.bytes = 4 * MIB;
    const cache = await open();
    const links = await cache.linksOfEngine();
    const [a, b] = [library.add('a.safetensors', 2_000 * KIB), library.add('b.safetensors', 800 * KIB)];
    await stage(cache, links, [a]);
    await links.clear();
    await (await CacheFolder.open(folder.path)).reserve(library.add('left.safetensors', 10));
    smallDisk.fill();
    await stage(cache, links, [b]);
    expect(await finds(links, b, 'b.safetensors')).toBe(true);
    expect([await namesIn('models'), await namesIn('partial')]).toEqual([[b.digest], []]);
  });

  it('lets a worker begin, where something in the cache can make room', async () => {
    const before = await open();
    const links = await before.linksOfEngine();
    const model = library.add('a.safetensors', 500 * KIB);
    await stage(before, links, [model]);
    await before.close();
    smallDisk.fill();
    const cache = await open();
    const again = await cache.linksOfEngine();
    expect(await namesIn('models')).toEqual([]);
    smallDisk.bytes += 2 * MIB;
    await stage(cache, again, [model]);
    expect(await finds(again, model, 'a.safetensors')).toBe(true);
  });

  it('says to an operator that it is full, where nothing can make room', async () => {
    await open();
    smallDisk.fill();
    await expect(open()).rejects.toThrow(/has no room left.*free some/i);
  });
});

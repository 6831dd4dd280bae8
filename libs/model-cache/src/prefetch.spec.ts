import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTestFolder, eventually, type TestFolder } from '@millrace/testing';
import type { ModelFile } from '@millrace/contracts';
import { MemoryLibrary, openCache, valueOf } from './fixtures/model-world';
import type { ModelCache } from './model-cache';
import { planPrefetch } from './prefetch';
import type { StagingProgress } from './wanted-models';

const staying = new AbortController().signal;

let folder: TestFolder;
let library: MemoryLibrary;
const opened: ModelCache[] = [];
beforeEach(async () => {
  folder = await createTestFolder();
  library = new MemoryLibrary();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((cache) => cache.close()));
  await folder.drop();
});

async function open(budgetBytes = 10_000) {
  const world = await openCache(folder.path, library, { budgetBytes });
  opened.push(world.cache);
  return world;
}
const fetchAll = (cache: ModelCache, files: ModelFile[], more: object = {}) =>
  cache.prefetch({ accountId: 'a', files, signal: staying, ...more });

describe('the plan of a prefetch', () => {
  const file = (name: string, sizeBytes: number, digest = name): ModelFile => ({
    folder: 'vae',
    name,
    digest,
    sizeBytes,
  });

  it('takes what goes into the room, in order, and leaves what does not', () => {
    const files = [file('a', 6), file('b', 5), file('c', 4)];
    expect(planPrefetch(files, 10)).toEqual({ fitting: [files[0], files[2]], left: [files[1]] });
    expect(planPrefetch(files, 15)).toEqual({ fitting: files, left: [] });
    expect(planPrefetch(files, 0).left).toEqual(files);
  });

  it('counts a content once', () => {
    const files = [file('a', 6, 'same'), file('b', 6, 'same'), file('c', 4)];
    expect(planPrefetch(files, 10).left).toEqual([]);
  });
});

describe('a prefetch', () => {
  it('brings models to the disk, says how far it is, and counts as no run', async () => {
    const { cache, metrics } = await open();
    const files = [library.add('a.safetensors', 2_500), library.add('b.safetensors', 1_000, 'loras')];
    const progress: StagingProgress[] = [];
    expect(await fetchAll(cache, files, { onProgress: (now: StagingProgress) => progress.push(now) })).toEqual([]);
    expect(await cache.names()).toEqual(['a.safetensors', 'b.safetensors']);
    expect(progress.at(-1)).toEqual({ stagedBytes: 3_500, totalBytes: 3_500 });
    const amounts = progress.map(({ stagedBytes }) => stagedBytes);
    expect(amounts).toEqual([...amounts].sort((a, b) => a - b));
    expect(await valueOf(metrics, 'millrace_model_bytes_fetched_total')).toBe(3_500);
    expect(await valueOf(metrics, 'millrace_model_cache_lookups_total')).toBe(0);
    await fetchAll(cache, files);
    expect(await valueOf(metrics, 'millrace_model_bytes_fetched_total')).toBe(3_500);
  });

  it('keeps nothing from being evicted', async () => {
    const { cache } = await open();
    await fetchAll(cache, [library.add('a.safetensors', 6_000)]);
    const links = await cache.linksOfEngine();
    const wanted = library.add('b.safetensors', 9_000);
    await cache.stage({ accountId: 'a', files: [wanted], links, signal: staying });
    expect(await cache.names()).toEqual(['b.safetensors']);
  });

  it('evicts what was used before, and none of its own', async () => {
    const { cache } = await open();
    const [own, old] = [library.add('own.safetensors', 4_000), library.add('old.safetensors', 4_000)];
    await fetchAll(cache, [own]);
    await fetchAll(cache, [old]);
    const unfetched = await fetchAll(cache, [library.add('new.safetensors', 5_000), own]);
    expect(unfetched).toEqual([]);
    expect(await cache.names()).toEqual(['new.safetensors', 'own.safetensors']);
    expect(library.given.get(own.digest)).toBe(4_000);
  });

  it('does not begin with what the cache cannot hold beside the others, and names it', async () => {
    const { cache } = await open();
    const [a, b, c] = [6_000, 5_000, 4_000].map((size, index) => library.add(`${index}.safetensors`, size));
    const unfetched = await fetchAll(cache, [a, b, c] as ModelFile[]);
    expect(unfetched).toMatchObject([{ file: { name: '1.safetensors' }, fault: 'too_large' }]);
    expect(library.given.has(b?.digest ?? '')).toBe(false);
    expect(await cache.names()).toEqual(['0.safetensors', '2.safetensors']);
  });

  it('waits for no room that a run has', async () => {
    const { cache } = await open();
    const links = await cache.linksOfEngine();
    await cache.stage({ accountId: 'a', files: [library.add('run.safetensors', 8_000)], links, signal: staying });
    const unfetched = await fetchAll(cache, [library.add('a.safetensors', 5_000)]);
    expect(unfetched).toMatchObject([{ file: { name: 'a.safetensors' }, fault: 'disk_full' }]);
    expect(await cache.names()).toEqual(['run.safetensors']);
  });

  it('goes on with the others where one does not come', async () => {
    const { cache } = await open();
    const [gone, there] = [library.add('gone.safetensors', 100), library.add('there.safetensors', 100)];
    library.contents.delete(gone.digest);
    expect(await fetchAll(cache, [gone, there])).toMatchObject([{ file: gone, fault: 'gone' }]);
    expect(await cache.names()).toEqual(['there.safetensors']);
  });

  it('fetches nothing twice beside a run that needs the same', async () => {
    const { cache } = await open();
    const model = library.add('a.safetensors', 5_000);
    const links = await cache.linksOfEngine();
    await Promise.all([
      fetchAll(cache, [model]),
      cache.stage({ accountId: 'b', files: [model], links, signal: staying }),
    ]);
    expect(library.readTwice).toEqual([]);
    expect(library.given.get(model.digest)).toBe(5_000);
  });

  it('begins again after its folder could not be opened', async () => {
    const { cache } = await open();
    const model = library.add('a.safetensors', 100);
    const engines = join(folder.path, 'engines');
    await rm(engines, { recursive: true });
    await writeFile(engines, 'in the way');
    await expect(fetchAll(cache, [model])).rejects.toThrow();
    await rm(engines);
    await mkdir(engines);
    expect(await fetchAll(cache, [model])).toEqual([]);
    expect(await cache.names()).toEqual(['a.safetensors']);
  });

  it('ends when it is stopped, and leaves what came for the next', async () => {
    const { cache } = await open();
    const model = library.add('a.safetensors', 5_000);
    const leaving = new AbortController();
    library.before = (_digest, at, signal) =>
      at < 3_000 ? undefined : new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error())));
    const fetching = fetchAll(cache, [model], { signal: leaving.signal });
    const failed = expect(fetching).rejects.toThrow();
    await eventually('some of it to come', () => (library.given.get(model.digest) ?? 0) >= 3_000);
    leaving.abort();
    await failed;
    library.before = () => undefined;
    expect(await fetchAll(cache, [model])).toEqual([]);
    expect(library.given.get(model.digest)).toBeLessThan(8_000);
  });
});

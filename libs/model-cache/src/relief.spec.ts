import { link, readdir, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ModelFile } from '@millrace/contracts';
import { Metrics } from '@millrace/platform';
import { createTestFolder, type TestFolder } from '@millrace/testing';
import { CacheFolder } from './cache-folder';
import { EngineLinks } from './engine-links';
import { valueOf } from './fixtures/model-world';
import { HostLocks, type HeldLock } from './host-locks';
import { CacheSpace } from './room';

const MODEL: ModelFile = { folder: 'loras', name: 'a.safetensors', digest: 'a'.repeat(64), sizeBytes: 7 };
const GRAVE = `${MODEL.digest}.00000000-0000-4000-8000-000000000000.evicted`;
const nobody = (): Promise<boolean> => Promise.resolve(false);

let test: TestFolder;
let folder: CacheFolder;
let given: EngineLinks;
let metrics: Metrics;
beforeEach(async () => {
  test = await createTestFolder();
  folder = await CacheFolder.open(join(test.path, 'cache'));
  given = await EngineLinks.open(join(test.path, 'given'), folder);
  metrics = new Metrics('test');
  await plant();
});
afterEach(() => test.drop());

/** A complete model. */
async function plant(text = 'weights'): Promise<void> {
  await writeFile(folder.model(MODEL.digest), text);
}

const models = (): Promise<string[]> => readdir(join(folder.path, 'models'));
const loras = (): Promise<string[]> => readdir(join(given.path, 'loras'));
const linked = (): Promise<boolean> => given.add(folder.model(MODEL.digest), MODEL);
/** As the next worker on the cache and the folder begins, after the one with the link was killed. */
async function beginAgain(): Promise<void> {
  await folder.sweep(nobody);
  await EngineLinks.abandon(given.path, await folder.inodes());
  await EngineLinks.open(given.path, folder);
}

/** On a disk that takes no lock. */
function roomWithoutLock(): CacheSpace {
  const locks = new HostLocks(folder.locks);
  locks.acquire = () => Promise.reject(Object.assign(new Error('no space left'), { code: 'ENOSPC' }));
  const parts = { budgetBytes: 1_000, metrics, logger: { info: () => undefined } };
  return new CacheSpace(folder, locks, parts, () => Promise.resolve());
}

/** Have something happen once a method of the folder has looked. */
function afterLook(name: 'models' | 'partials', what: () => Promise<unknown>): void {
  const look = folder[name].bind(folder) as () => Promise<never>;
  let isFirst = true;
  folder[name] = async () => {
    const seen = await look();
    if (isFirst) await what();
    isFirst = false;
    return seen;
  };
}

describe('relief that cannot have a lock', () => {
  it('keeps a model that an engine was lent in that moment, so that the next worker can empty its folder', async () => {
    folder.evict = async (digest) => {
      await linked();
      return CacheFolder.prototype.evict.call(folder, digest);
    };
    expect(await roomWithoutLock().relieve(new Set())).toBe(false);
    expect([await models(), await loras()]).toEqual([[MODEL.digest], [MODEL.name]]);
    expect(await valueOf(metrics, 'millrace_model_cache_evictions_total')).toBe(0);
    await beginAgain();
    expect(await loras()).toEqual([]);
  });

  it('evicts the next model then', async () => {
    const other = 'b'.repeat(64);
    await writeFile(folder.model(other), 'others');
    await utimes(folder.model(MODEL.digest), 1_000, 1_000);
    afterLook('models', linked);
    expect(await roomWithoutLock().relieve(new Set())).toBe(true);
    expect(await models()).toEqual([MODEL.digest]);
  });

  it('keeps the pieces of a fetch that begins while it looks', async () => {
    await rm(folder.model(MODEL.digest));
    const locks = new HostLocks(folder.locks);
    let lock: HeldLock | null = null;
    afterLook('partials', async () => {
      lock = await locks.tryAcquire(MODEL.digest);
      await folder.reserve(MODEL);
    });
    const room = roomWithoutLock();
    expect([await room.relieve(new Set()), await room.relieve(new Set())]).toEqual([false, false]);
    expect(await folder.partials()).toHaveLength(1);
    await (lock as HeldLock | null)?.release();
  });
});

describe('an eviction that a crash has cut short', () => {
  it('is ended by the next sweep', async () => {
    await folder.note(MODEL);
    await rename(folder.model(MODEL.digest), join(folder.path, 'models', GRAVE));
    expect(await folder.models()).toEqual([]);
    await folder.sweep(nobody);
    expect([await models(), await readdir(join(folder.path, 'names'))]).toEqual([[], []]);
  });

  it('is undone where an engine has the model', async () => {
    await linked();
    await rename(folder.model(MODEL.digest), join(folder.path, 'models', GRAVE));
    await folder.sweep(nobody);
    expect(await models()).toEqual([MODEL.digest]);
  });

  it('leaves one name where it was undone before the crash', async () => {
    await link(folder.model(MODEL.digest), join(folder.path, 'models', GRAVE));
    await folder.sweep(nobody);
    expect([await models(), (await folder.models())[0]?.isLinked]).toEqual([[MODEL.digest], false]);
  });

  it('lasts for as long as an engine has the file, where the model came again meanwhile', async () => {
    await linked();
    await rename(folder.model(MODEL.digest), join(folder.path, 'models', GRAVE));
    await plant('fetched');
    await beginAgain();
    expect([await models(), await loras()]).toEqual([[MODEL.digest, GRAVE], []]);
    await folder.sweep(nobody);
    expect(await models()).toEqual([MODEL.digest]);
  });
});

describe('a model that is complete a second time', () => {
  it('leaves the one that is there, which engines may have', async () => {
    await linked();
    const pieces = await folder.reserve(MODEL);
    expect(await folder.complete(pieces, MODEL.digest)).toBe(true);
    expect(await folder.partials()).toEqual([]);
    expect((await folder.models())[0]?.isLinked).toBe(true);
    await beginAgain();
    expect(await loras()).toEqual([]);
  });
});

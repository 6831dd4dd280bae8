import type { ModelFile } from '@millrace/contracts';
import type { PoolModels } from '@millrace/deployments';
import type { Unfetched } from '@millrace/model-cache';
import { eventually, followersOf } from '@millrace/testing';
import { NamedModels, type KeptModels } from './named-models';

const LONG_MS = 60_000;

type PrefetchRequest = Parameters<KeptModels['prefetch']>[0];

let list: PoolModels | null | Error;
let library: ModelFile[];
let unfetched: Unfetched[];
let fetched: string[][];
let lists: number;
let hold: Promise<void>;
let opened: NamedModels[];
beforeEach(() => {
  [list, library, unfetched, fetched, lists, hold, opened] = [null, [], [], [], 0, Promise.resolve(), []];
});
afterEach(() => Promise.all(opened.map((models) => models.stop())));

const file = (name: string, folder = 'checkpoints'): ModelFile => ({ folder, name, digest: name, sizeBytes: 1_000 });
const named = (...names: string[]): PoolModels => ({
  accountId: 'a',
  models: names.map((name) => ({ folder: 'checkpoints', name })),
});
const cache = {
  find: (_account: string, names: readonly string[]) =>
    Promise.resolve(library.filter(({ name }) => names.includes(name))),
  prefetch: async ({ files, onProgress }) => {
    onProgress?.({ stagedBytes: 1_500, totalBytes: 3_000 });
    await hold;
    fetched.push(files.map(({ name }) => name));
    return unfetched;
  },
  capacityBytes: () => Promise.resolve(8_000_000),
  names: () => Promise.resolve([]),
} satisfies KeptModels;
function open(more: object = {}): NamedModels {
  const read = (): Promise<PoolModels | null> => {
    lists += 1;
    return list instanceof Error ? Promise.reject(list) : Promise.resolve(list);
  };
  const logger = { info: () => undefined, warn: () => undefined };
  const models = new NamedModels({ list: read, cache, logger, lookEveryMs: 0, ...more });
  opened.push(models);
  return models;
}
const failure = (name: string, fault: Unfetched['fault']): Unfetched => ({ file: file(name), fault, message: '' });

describe('the models that a deployment names', () => {
  it('are all fetched before the worker is ready, in the order of the list, each in its folder', async () => {
    list = named('b', 'a');
    library = [file('a'), file('b'), file('a', 'loras')];
    const models = open();
    expect(await models.begin(LONG_MS)).toBe(true);
    expect(fetched).toEqual([['b', 'a']]);
    expect(models.note).toBeNull();
  });

  it('are none for most deployments: a start waits for nothing', async () => {
    const models = open();
    expect(await models.begin(LONG_MS)).toBe(false);
    expect([fetched, models.note]).toEqual([[], null]);
  });

  it('say how far they are; a start waits for them no longer than it may, and they come later', async () => {
    list = named('a');
    library = [file('a')];
    let release = (): void => undefined;
    hold = new Promise((resolve) => (release = resolve));
    const models = open();
    expect(await models.begin(10)).toBe(true);
    expect(models.note).toBe('its models are fetched: 1.5 KB of 3.0 KB');
    release();
    await eventually('the note to go', () => models.note === null);
    expect(fetched).toEqual([['a']]);
  });

  it('are fetched once for each list, and again when it changes', async () => {
    list = named('a');
    library = [file('a'), file('b')];
    const models = open();
    await models.begin(LONG_MS);
    for (let look = 0; look < 3; look += 1) await models.look();
    expect(fetched).toEqual([['a']]);
    list = named('a', 'b');
    await models.look();
    expect(fetched.at(-1)).toEqual(['a', 'b']);
    list = null;
    await models.look();
    expect([fetched.length, models.note]).toEqual([2, null]);
  });

  it('are looked for no more often than is set', async () => {
    const models = open({ lookEveryMs: LONG_MS });
    await models.begin(LONG_MS);
    await models.look();
    expect(lists).toBe(1);
  });

  it('that the cache has no room for are named, and not tried again', async () => {
    list = named('a', 'b');
    library = [file('a'), file('b')];
    unfetched = [failure('b', 'too_large')];
    const models = open();
    await models.begin(LONG_MS);
    jest.spyOn(performance, 'now').mockReturnValue(Number.MAX_SAFE_INTEGER);
    await models.look();
    jest.restoreAllMocks();
    expect(fetched).toHaveLength(1);
    expect(models.note).toBe('its models: the cache of its workers, which holds 8.0 MB, has no room for checkpoints/b');
  });

  it('that did not come otherwise are named, and tried again after a pause', async () => {
    list = named('a', 'b', 'c');
    library = [file('a'), file('b')];
    unfetched = [failure('a', 'unreachable'), failure('b', 'disk_full')];
    const models = open();
    await models.begin(LONG_MS);
    expect(models.note).toBe(
      'its models: the library does not have checkpoints/c; jobs have the room in the cache that is needed for checkpoints/b; ' +
        'checkpoints/a could not be fetched (unreachable)',
    );
    unfetched = [];
    library = [file('a'), file('b'), file('c')];
    jest.spyOn(performance, 'now').mockReturnValue(Number.MAX_SAFE_INTEGER);
    await models.look();
    jest.restoreAllMocks();
    expect([fetched.at(-1), models.note]).toEqual([['a', 'b', 'c'], null]);
  });

  it('cost no start where they cannot be asked for', async () => {
    list = new Error('no database');
    const models = open();
    expect(await models.begin(LONG_MS)).toBe(false);
    list = named('a');
    library = [file('a')];
    jest.spyOn(performance, 'now').mockReturnValue(Number.MAX_SAFE_INTEGER);
    await models.look();
    jest.restoreAllMocks();
    expect(fetched).toEqual([['a']]);
  });

  it('are said to be kept nowhere where the worker has no cache', async () => {
    list = named('a');
    const models = open({ cache: null });
    expect(await models.begin(LONG_MS)).toBe(false);
    expect(models.note).toBe('its models: its workers keep none of the library');
  });

  it('are not fetched by a worker that goes', async () => {
    list = named('a');
    const models = open();
    await models.stop();
    await models.look();
    expect(fetched).toEqual([]);
  });

  it('are stopped while they come by a worker that goes', async () => {
    list = named('a');
    const stopped = jest.fn();
    const prefetch = ({ signal }: PrefetchRequest): Promise<never> =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          stopped();
          reject(signal.reason as Error);
        });
      });
    const models = open({ cache: { ...cache, prefetch } });
    await models.begin(10);
    expect(stopped).not.toHaveBeenCalled();
    await models.stop();
    expect(stopped).toHaveBeenCalled();
  });

  it('leave nothing on what stops them, which lives as long as the worker', async () => {
    list = named('a');
    const prefetch = (request: PrefetchRequest): Promise<Unfetched[]> => {
      AbortSignal.any([request.signal, new AbortController().signal]);
      return cache.prefetch(request);
    };
    const models = open({ cache: { ...cache, prefetch } });
    await models.begin(LONG_MS);
    expect(fetched).toHaveLength(1);
    expect(followersOf((Reflect.get(models, 'leaving') as AbortController).signal)).toBe(0);
  });
});

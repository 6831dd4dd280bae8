import { createLogger } from '@millrace/platform';
import { DiskModels, type ModelDisk } from './disk-models';

const ROOM = 1_000;

let there: string[] | Error;
const given = <T>(value: T): Promise<T> => (there instanceof Error ? Promise.reject(there) : Promise.resolve(value));
const disk: ModelDisk = { names: () => given(there as string[]), capacityBytes: () => given(ROOM) };
const open = (on: ModelDisk | null = disk): DiskModels => new DiskModels(on, createLogger('test', 'silent'));

describe('the models on a disk', () => {
  it('have changed when others are there than were reported', async () => {
    there = ['a.safetensors'];
    const models = open();
    expect(await models.haveChanged()).toBe(true);
    expect(await models.report()).toEqual({ diskModels: there, modelCacheBytes: ROOM });
    expect(await models.haveChanged()).toBe(false);
    there = ['b.safetensors'];
    expect(await models.names()).toEqual(there);
    expect(await models.haveChanged()).toBe(true);
  });

  it('are those that were reported last where they cannot be listed, and the room for them is not said', async () => {
    there = ['a.safetensors'];
    const models = open();
    await models.report();
    there = new Error('the folder is away');
    expect(await models.names()).toEqual(['a.safetensors']);
    expect(await models.haveChanged()).toBe(false);
    expect(await models.report()).toEqual({ diskModels: ['a.safetensors'], modelCacheBytes: null });
  });

  it('are none, with no room for any, where the worker keeps none', async () => {
    expect(await open(null).report()).toEqual({ diskModels: [], modelCacheBytes: null });
  });
});

import { createLogger } from '@millrace/platform';
import { DiskModels } from './disk-models';

let there: string[] | Error;
const list = (): Promise<string[]> => (there instanceof Error ? Promise.reject(there) : Promise.resolve(there));

describe('the models on a disk', () => {
  it('have changed when others are there than were reported', async () => {
    there = ['a.safetensors'];
    const disk = new DiskModels(list, createLogger('test', 'silent'));
    expect(await disk.haveChanged()).toBe(true);
    expect(await disk.report()).toEqual(there);
    expect(await disk.haveChanged()).toBe(false);
    there = ['b.safetensors'];
    expect(await disk.names()).toEqual(there);
    expect(await disk.haveChanged()).toBe(true);
  });

  it('are those that were reported last where they cannot be listed', async () => {
    there = ['a.safetensors'];
    const disk = new DiskModels(list, createLogger('test', 'silent'));
    await disk.report();
    there = new Error('the folder is away');
    expect(await disk.names()).toEqual(['a.safetensors']);
    expect(await disk.haveChanged()).toBe(false);
  });
});

import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '@millrace/platform';
import { eventually } from '@millrace/testing';
import { WorkFolder } from './work-folder';

const logger = createLogger('test', 'silent');

let root: string;
beforeEach(async () => (root = await mkdtemp(join(tmpdir(), 'millrace-work-folder-test-'))));
afterEach(() => rm(root, { recursive: true }));

describe('the folder for the files of attempts', () => {
  it('is probed when something failed, and a probe leaves nothing', async () => {
    const folder = new WorkFolder(root, logger);
    await folder.suspect();
    expect(folder.problem).toBeNull();
    expect(await readdir(root)).toEqual([]);
  });

  it('is proven before a run, which leaves nothing, and not again within a second', async () => {
    const now = jest.spyOn(performance, 'now').mockReturnValue(0);
    const path = join(root, 'work');
    const folder = new WorkFolder(path, logger);
    await folder.prove();
    expect(await readdir(path)).toEqual([]);
    await rm(path, { recursive: true });
    await writeFile(path, 'in the way');
    now.mockReturnValue(999);
    await folder.prove();
    now.mockReturnValue(1_000);
    await expect(folder.prove()).rejects.toThrow('EEXIST');
    jest.restoreAllMocks();
  });

  it('is proven again after a probe that failed', async () => {
    const path = join(root, 'work');
    const folder = new WorkFolder(path, logger);
    await folder.prove();
    await rm(path, { recursive: true });
    await writeFile(path, 'in the way');
    await folder.suspect();
    await expect(folder.prove()).rejects.toThrow('EEXIST');
  });

  it('cannot be used while a probe fails, and says why', async () => {
    await writeFile(join(root, 'in the way'), '');
    const folder = new WorkFolder(join(root, 'in the way'), logger);
    expect(folder.problem).toBeNull();
    await folder.suspect();
    expect(folder.problem).toBe(
      'The folder for the files of attempts (MILLRACE_WORK_DIR) cannot be written to: EEXIST.',
    );
  });

  it('can be used again when a later probe passes', async () => {
    const path = join(root, 'work');
    await writeFile(path, '');
    const folder = new WorkFolder(path, logger);
    await folder.suspect();
    await rm(path);
    await eventually('a probe to pass', () => {
      folder.recheck();
      return folder.problem === null;
    });
    expect(await readdir(path)).toEqual([]);
  });

  it('is probed with pauses that grow', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(1);
    const now = jest.spyOn(performance, 'now').mockReturnValue(0);
    await writeFile(join(root, 'work'), '');
    const folder = new WorkFolder(join(root, 'work'), logger);
    await folder.suspect();
    await folder.suspect();
    await rm(join(root, 'work'));
    now.mockReturnValue(999);
    folder.recheck();
    expect(folder.problem).not.toBeNull();
    await new Promise(setImmediate);
    expect(await readdir(root)).toEqual([]);
    now.mockReturnValue(1_000);
    folder.recheck();
    await folder.suspect();
    expect(folder.problem).toBeNull();
    jest.restoreAllMocks();
  });
});

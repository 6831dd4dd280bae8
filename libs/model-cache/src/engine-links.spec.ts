import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTestFolder, type TestFolder } from '@millrace/testing';
import { CacheFolder, CacheFolderError } from './cache-folder';
import { EngineLinks, MODEL_PATHS_FILE, NameTaken } from './engine-links';

let folder: TestFolder;
let cache: CacheFolder;
let model: string;
beforeEach(async () => {
  folder = await createTestFolder();
  cache = await CacheFolder.open(join(folder.path, 'cache'));
  model = cache.model('0'.repeat(64));
  await writeFile(model, 'weights');
});
afterEach(() => folder.drop());

const open = (): Promise<EngineLinks> => EngineLinks.open(join(folder.path, 'engine'), cache);

describe('the links of an engine', () => {
  it('are in the folders that its file of paths names, before those of its own', async () => {
    const links = await open();
    await links.add(model, { folder: 'checkpoints', name: 'sdxl/base.safetensors' });
    expect(await readFile(join(links.path, 'checkpoints/sdxl/base.safetensors'), 'utf8')).toBe('weights');
    const paths = await readFile(join(links.path, MODEL_PATHS_FILE), 'utf8');
    expect(paths).toMatch(/^millrace:\n {2}base_path: \.\n {2}is_default: true\n/);
    expect(paths).toContain('\n  checkpoints: checkpoints\n');
  });

  it('change the time of their folder each time: that is how ComfyUI knows to read it again', async () => {
    const links = await open();
    const times: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      await links.add(model, { folder: 'loras', name: 'a.safetensors' });
      times.push((await stat(join(links.path, 'loras'))).mtimeMs);
      await links.clear();
      times.push((await stat(join(links.path, 'loras'))).mtimeMs);
    }
    expect(new Set(times).size).toBe(6);
  });

  it('are gone when they are cleared and when the folder is opened again, and the models are not', async () => {
    const links = await open();
    await links.add(model, { folder: 'checkpoints', name: 'deep/er/base.safetensors' });
    const again = await open();
    await expect(stat(join(again.path, 'checkpoints/deep'))).rejects.toThrow('ENOENT');
    expect(await readFile(model, 'utf8')).toBe('weights');
  });

  it('may be there from the first that is added until all are removed, and not before', async () => {
    const links = await open();
    expect(links.mayShowModels).toBe(false);
    await links.add(model, { folder: 'vae', name: 'a.safetensors' });
    expect(links.mayShowModels).toBe(true);
    await links.clear();
    expect(links.mayShowModels).toBe(false);
  });

  it('keep what is linked first under a name', async () => {
    const links = await open();
    await writeFile(cache.model('1'.repeat(64)), 'others');
    expect(await links.add(model, { folder: 'vae', name: 'a.safetensors' })).toBe(true);
    expect(await links.add(cache.model('1'.repeat(64)), { folder: 'vae', name: 'a.safetensors' })).toBe(false);
    expect(await readFile(join(links.path, 'vae/a.safetensors'), 'utf8')).toBe('weights');
  });

  it.each([
    ['a.sft', 'a.sft/b.sft'],
    ['a.sft/b.sft', 'a.sft'],
    ['a.sft', 'a.sft/b/c.sft'],
  ])('say which names one engine cannot have at once: %s and %s', async (first, second) => {
    const links = await open();
    await links.add(model, { folder: 'vae', name: first });
    await expect(links.add(model, { folder: 'vae', name: second })).rejects.toBeInstanceOf(NameTaken);
  });

  it('remember the names of the last that were linked, and of no more', async () => {
    const links = await open();
    const target = (name: string) => ({ folder: 'loras', name });
    for (const name of ['first', 'second']) await links.add(model, target(name));
    await Promise.all(Array.from({ length: 9_998 }, (_, index) => links.add(model, target(`${index}`))));
    await links.add(model, target('first'));
    expect(['first', 'second', '0'].map((name) => links.hasLent(name))).toEqual([true, true, true]);
    await links.clear();
    await links.add(model, target('last'));
    expect(['first', 'second', '0', 'last'].map((name) => links.hasLent(name))).toEqual([true, false, true, true]);
  });

  it.each([
    ['checkpoints', '../../cache/x'],
    ['checkpoints', 'a/../../x'],
    ['checkpoints', '/etc/x'],
    ['checkpoints', 'a\\b'],
    ['checkpoints', ''],
    ['..', 'x'],
    ['a/b', 'x'],
  ])('never lead out of a folder: %j %j', async (kind, name) => {
    await expect((await open()).add(model, { folder: kind, name })).rejects.toThrow('no name of a model');
  });

  it.each(['checkpoints/own.safetensors', 'notes.txt'])('refuse a folder with files of its own: %s', async (name) => {
    const links = await open();
    await writeFile(join(links.path, name), 'an operator put it here');
    await expect(open()).rejects.toBeInstanceOf(CacheFolderError);
    expect(await readFile(join(links.path, name), 'utf8')).toContain('operator');
  });
});

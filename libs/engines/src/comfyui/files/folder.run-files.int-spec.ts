import { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scratchDir } from '../../../conformance/run-workflow';
import { FolderRunFiles } from './folder.run-files';
import { UnusableInput } from './run-files';

describe('files in folders within reach', () => {
  const root = scratchDir();
  const folders = { input: join(root, 'input'), output: join(root, 'output'), temp: join(root, 'temp') };
  const files = new FolderRunFiles(folders);
  const staying = new AbortController().signal;
  const elsewhere = join(root, 'elsewhere.txt');
  const at = (path: string) => ({ newPath: () => Promise.resolve(path), maxHeldBytes: 1_000 });

  beforeAll(() => {
    for (const folder of Object.values(folders)) mkdirSync(join(folder, 'millrace/r1'), { recursive: true });
    writeFileSync(elsewhere, 'another’s');
  });

  it('are staged as copies: a node that writes to its input does not reach the caller’s', async () => {
    const given = join(root, 'given.png');
    writeFileSync(given, 'mine');
    await files.stage(given, 'millrace/r1/1.png');
    const staged = join(folders.input, 'millrace/r1/1.png');
    writeFileSync(staged, 'changed');
    expect(readFileSync(given, 'utf8')).toBe('mine');
  });

  it('that are not there to be staged are unavailable', async () => {
    await expect(files.stage(join(root, 'nowhere'), 'millrace/r1/9.png')).rejects.toBeInstanceOf(UnusableInput);
  });

  it('are fetched, or found missing', async () => {
    writeFileSync(join(folders.output, 'millrace/r1/a.png'), 'pixels');
    const got = join(root, 'got.png');
    expect(await files.fetch({ type: 'output', path: 'millrace/r1/a.png' }, at(got), staying)).toBe(got);
    expect(readFileSync(got, 'utf8')).toBe('pixels');
    expect(
      await files.fetch({ type: 'output', path: 'millrace/r1/b.png' }, at(join(root, 'none.png')), staying),
    ).toBeNull();
  });

  it('are never fetched through a symbolic link, nor listed', async () => {
    symlinkSync(elsewhere, join(folders.output, 'millrace/r1/link.txt'));
    symlinkSync(root, join(folders.output, 'millrace/r1/up'));
    for (const path of ['millrace/r1/link.txt', 'millrace/r1/up/elsewhere.txt']) {
      expect(await files.fetch({ type: 'output', path }, at(join(root, 'stolen.txt')), staying)).toBeNull();
    }
    expect(existsSync(join(root, 'stolen.txt'))).toBe(false);
    expect(await files.list('millrace/r1')).toEqual([{ type: 'output', path: 'millrace/r1/a.png' }]);
  });

  it('can be written, or are not, and nothing stays of the proof', async () => {
    await files.prove();
    expect(readdirSync(folders.input)).toEqual(['millrace']);
    expect(readdirSync(join(folders.input, 'millrace'))).toEqual(['r1']);
    const broken = new FolderRunFiles({ ...folders, temp: join(elsewhere, 'temp') });
    await expect(broken.prove()).rejects.toThrow('ENOTDIR');
  });

  it('that a worker left which died are removed, and none of a run that goes on for another', async () => {
    const old = new Date(Date.now() - 25 * 3_600_000);
    for (const runId of ['left', 'old', 'writes', 'runs']) {
      const ofNode = join(folders.output, 'millrace', runId, '1');
      mkdirSync(ofNode, { recursive: true });
      if (runId !== 'writes') utimesSync(ofNode, old, old);
      if (runId !== 'runs') utimesSync(join(ofNode, '..'), old, old);
    }
    await files.cleanLeft(['left']);
    expect(readdirSync(join(folders.output, 'millrace')).sort()).toEqual(['r1', 'runs', 'writes']);
    expect(readdirSync(join(folders.input, 'millrace'))).toEqual(['r1']);
    for (const runId of ['runs', 'writes']) await files.clean(runId, []);
  });

  it('of a run that says that it goes on stay, and nothing comes to be by that', async () => {
    const old = new Date(Date.now() - 25 * 3_600_000);
    const ofRun = join(folders.input, 'millrace/lasts');
    mkdirSync(ofRun);
    for (const last of [false, true]) {
      utimesSync(ofRun, old, old);
      if (!last) await files.keep('lasts');
      await files.cleanLeft([]);
      expect(existsSync(ofRun)).toBe(!last);
    }
    await files.keep('lasts');
    expect([folders.input, folders.output].map((folder) => existsSync(join(folder, 'millrace/lasts')))).toEqual([
      false,
      false,
    ]);
  });

  it('of a run that it left in the temporary folder are removed, which no node has reported', async () => {
    const [mine, others] = ['frames', 'others'].map((runId) => join(folders.temp, 'millrace', runId, '1'));
    for (const folder of [mine, others] as string[]) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'frame.png'), '');
    }
    await files.clean('frames', []);
    expect(readdirSync(join(folders.temp, 'millrace')).sort()).toEqual(['others', 'r1']);
    expect(await files.runs()).toContain('others');
    await files.cleanLeft(['others']);
    expect(readdirSync(join(folders.temp, 'millrace'))).toEqual(['r1']);
  });

  it('of a run that goes on stay in the temporary folder as well', async () => {
    const old = new Date(Date.now() - 25 * 3_600_000);
    const ofRun = join(folders.temp, 'millrace/lasts');
    mkdirSync(ofRun);
    for (const last of [false, true]) {
      utimesSync(ofRun, old, old);
      if (!last) await files.keep('lasts');
      await files.cleanLeft([]);
      expect(existsSync(ofRun)).toBe(!last);
    }
  });

  it.each([
    ['the output folder', 'output', 'output'],
    ['a folder in it', 'output', 'output/temp'],
    ['the one that it is in', 'shared/output', 'shared'],
  ])('of a run are removed where the temporary folder is %s', async (_name, output, temp) => {
    const nested = scratchDir();
    const given = { input: join(nested, 'input'), output: join(nested, output), temp: join(nested, temp) };
    const ofRuns = Object.values(given).map((folder) => join(folder, 'millrace'));
    for (const runs of ofRuns) for (const runId of ['r1', 'r2']) mkdirSync(join(runs, runId, '1'), { recursive: true });
    for (const folder of Object.values(given)) writeFileSync(join(folder, 'millrace/r1/1/x'), '');
    const nestedFiles = new FolderRunFiles(given);
    await nestedFiles.clean('r1', []);
    for (const runs of ofRuns) expect(readdirSync(runs)).toEqual(['r2']);
    expect(await nestedFiles.runs()).toEqual(['r2']);
    await nestedFiles.cleanAll();
    for (const runs of ofRuns) expect(existsSync(runs)).toBe(false);
  });

  it('of a run are removed, and no others', async () => {
    mkdirSync(join(folders.output, 'millrace/r2'));
    writeFileSync(join(folders.temp, 't.png'), '');
    writeFileSync(join(folders.temp, 'u.png'), '');
    await files.clean('r1', [{ type: 'temp', path: 't.png' }]);
    expect(existsSync(join(folders.output, 'millrace/r1'))).toBe(false);
    expect(existsSync(join(folders.input, 'millrace/r1'))).toBe(false);
    expect(existsSync(join(folders.temp, 'millrace/r1'))).toBe(false);
    expect(existsSync(join(folders.output, 'millrace/r2'))).toBe(true);
    expect([existsSync(join(folders.temp, 't.png')), existsSync(join(folders.temp, 'u.png'))]).toEqual([false, true]);
    expect(readFileSync(elsewhere, 'utf8')).toBe('another’s');
  });
});

import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { scratchDir } from '@millrace/engines/conformance';
import { OutputFolder, OutputWriteError } from './output-folder';

async function written(root: string, prefix: string, count = 1): Promise<string[]> {
  const names: string[] = [];
  const file = { prefix, extension: '.png', width: 64, height: 48 };
  await new OutputFolder(root).write(
    file,
    count,
    (index) => Promise.resolve(Buffer.from([index])),
    (name, path) => {
      expect(readFileSync(path)).toHaveLength(1);
      names.push(path.slice(root.length + 1));
      expect(path.endsWith(`/${name}`)).toBe(true);
    },
  );
  return names;
}

describe('names of output files', () => {
  it.each([
    ['shot', 'shot_00001_.png'],
    ['a/b/shot', 'a/b/shot_00001_.png'],
    ['a/../shot/', 'shot_00001_.png'],
    ['', '._00001_.png'],
    ['%width%x%height%', '64x48_00001_.png'],
    ['%nonsense%', '%nonsense%_00001_.png'],
    ['日本', '日本_00001_.png'],
  ])('of the prefix %j', async (prefix, name) => {
    expect(await written(scratchDir(), prefix)).toEqual([name]);
  });

  it('hold the day where the prefix asks for it', async () => {
    const [name] = await written(scratchDir(), '%year%-%month%-%day%');
    expect(name).toMatch(/^20\d\d-[01]\d-[0-3]\d_00001_\.png$/);
  });

  it('number on from what stands in the folder, and count the batch', async () => {
    const root = scratchDir();
    writeFileSync(join(root, 'shot_00007_.png'), '');
    writeFileSync(join(root, 'shot_more_.png'), '');
    expect(await written(root, 'shot', 2)).toEqual(['shot_00008_.png', 'shot_00009_.png']);
    expect(await written(root, 'n%batch_num%', 2)).toEqual(['n0_00001_.png', 'n1_00002_.png']);
  });

  it('are given to one file each where a prefix counts the batch and several nodes have it', async () => {
    const root = scratchDir();
    const names = [
      ...(await written(root, 'n%batch_num%')),
      ...(await written(root, 'n%batch_num%', 2)),
      ...(await written(root, 'n_%batch_num%_%batch_num%')),
      ...(await written(root, 'n_%batch_num%_%batch_num%')),
      ...(await written(root, 'n1')),
    ];
    expect(names).toEqual([
      'n0_00001_.png',
      'n0_00002_.png',
      'n1_00003_.png',
      'n_0_0_00001_.png',
      'n_0_0_00002_.png',
      'n1_00004_.png',
    ]);
  });

  it.each(['../x', '/x', 'a/../../x', '../..'])('never lead out of the folder: %j', async (prefix) => {
    await expect(written(scratchDir(), prefix)).rejects.toThrow('leads out of the output folder');
  });

  it('stay below the folder with any prefix', async () => {
    const part = fc.constantFrom('..', '.', '', 'a', 'b.c', '...');
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 6 }), async (parts) => {
        const outer = scratchDir();
        mkdirSync(join(outer, 'inner'));
        await written(join(outer, 'inner'), parts.join('/')).catch(() => []);
        expect(readdirSync(outer)).toEqual(['inner']);
      }),
      { numRuns: 60 },
    );
  });

  it.each([
    ['x'.repeat(300), 'is too long'],
    [`${'abc/'.repeat(400)}x`, 'is too long'],
    ['nul\0', 'holds a null character'],
  ])('say what is wrong with a prefix that no file can have', async (prefix, reason) => {
    await expect(written(scratchDir(), prefix)).rejects.toThrow(reason);
  });

  it('are not to blame for a disk that is full', async () => {
    const root = scratchDir();
    const file = { prefix: 'n', extension: '.png', width: 64, height: 48 };
    const encode = (): Promise<Buffer> => {
      symlinkSync('/dev/full', join(root, 'n_00001_.png'));
      return Promise.resolve(Buffer.from([0]));
    };
    const refused = new OutputFolder(root).write(file, 1, encode, () => undefined);
    await expect(refused).rejects.toThrow(OutputWriteError);
    await expect(refused).rejects.toThrow('the disk of its worker is full (ENOSPC)');
  });
});

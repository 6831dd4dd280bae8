import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { scratchDir } from '../../../conformance/run-workflow';
import { HELD_BYTES, type EngineOutput } from '../../engine';
import type { RunFiles } from '../files';
import { OutputCollector } from './output-collector';

/** Files of these sizes, held where the target allows it. */
function filesOf(sizes: Record<string, number>): Pick<RunFiles, 'fetch'> {
  return {
    async fetch({ path }, { maxHeldBytes, newPath }) {
      const bytes = Buffer.alloc(sizes[path] ?? 0, basename(path));
      if (bytes.length <= maxHeldBytes) return bytes;
      const destination = await newPath();
      writeFileSync(destination, bytes);
      return destination;
    },
  };
}

describe('the outputs of a run', () => {
  const runId = '0197aa00-0000-7000-8000-000000000001';
  let outputDir: string;
  let outputs: EngineOutput[];

  beforeEach(() => {
    outputDir = join(scratchDir(), 'outputs');
    outputs = [];
  });

  function collector(sizes: Record<string, number> = {}): OutputCollector {
    const files = filesOf(sizes) as RunFiles;
    const emit = (output: EngineOutput): void => void outputs.push(output);
    return new OutputCollector({ runId, outputDir, classes: new Map(), files, signal: AbortSignal.abort(), emit });
  }

  const reported = (...names: string[]): Record<string, unknown> => ({
    images: names.map((filename) => ({ filename, subfolder: `millrace/${runId}/1`, type: 'output' })),
  });

  it('are handed over in memory up to a bound of the run, and as files beyond', async () => {
    const at = (name: string): string => `millrace/${runId}/1/${name}`;
    const collecting = collector({
      [at('a.png')]: HELD_BYTES - 10,
      [at('b.png')]: 11,
      [at('c.png')]: 10,
      [at('d.png')]: 1,
    });
    collecting.take({ nodeId: '1', source: '1', output: reported('a.png', 'b.png', 'c.png', 'd.png') });
    collecting.takePicture('2', 'image/png', Buffer.from('picture'));
    expect(await collecting.whenDone()).toBeNull();
    expect(outputs.map(({ nodeId, index, kind }) => [nodeId, index, kind])).toEqual([
      ['1', 0, 'bytes'],
      ['1', 1, 'file'],
      ['1', 2, 'bytes'],
      ['1', 3, 'file'],
      ['2', 0, 'file'],
    ]);
    const contents = outputs.map((output) => {
      if (output.kind === 'text') throw new Error('A file was reported as text.');
      return output.kind === 'bytes' ? output.bytes : readFileSync(output.path);
    });
    expect(contents.map(({ length }) => length)).toEqual([HELD_BYTES - 10, 11, 10, 1, 7]);
    expect(contents.map((bytes) => bytes.toString('latin1', 0, 1))).toEqual(['a', 'b', 'c', 'd', 'p']);
  });

  it('have no folder where all of them are held', async () => {
    const collecting = collector();
    collecting.takePicture('2', 'image/jpeg', Buffer.from('picture'));
    expect(await collecting.whenDone()).toBeNull();
    expect(outputs).toEqual([
      { nodeId: '2', index: 0, kind: 'bytes', name: 'ComfyUI_00001_.jpg', bytes: Buffer.from('picture') },
    ]);
    expect(existsSync(outputDir)).toBe(false);
  });

  it('cannot be collected where their folder cannot be made, and the error says so', async () => {
    writeFileSync(outputDir, 'in the way');
    const collecting = collector({ [`millrace/${runId}/1/a.png`]: HELD_BYTES + 1 });
    collecting.take({ nodeId: '1', source: '1', output: reported('a.png') });
    await expect(collecting.whenDone()).rejects.toMatchObject({ syscall: 'mkdir', code: 'EEXIST' });
  });
});

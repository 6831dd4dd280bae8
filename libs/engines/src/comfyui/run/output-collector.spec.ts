import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { eventually } from '@millrace/testing';
import { scratchDir } from '../../../conformance/run-workflow';
import { HELD_BYTES, isText, type EngineOutput } from '../../engine';
import type { RunFiles } from '../files';
import { diskFaultOf } from './disk-fault';
import { MAX_UNWRITTEN_BYTES, OutputCollector } from './output-collector';

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

const MAX_OUTPUTS = 1_000;

describe('the outputs of a run', () => {
  const runId = '0197aa00-0000-7000-8000-000000000001';
  let outputDir: string;
  let outputs: EngineOutput[];
  let abort: AbortController;

  beforeEach(() => {
    abort = new AbortController();
    outputDir = join(scratchDir(), 'outputs');
    outputs = [];
  });

  function collector(sizes: Record<string, number> = {}): OutputCollector {
    return collectorOf(filesOf(sizes) as RunFiles);
  }

  function collectorOf(files: RunFiles, emit = (output: EngineOutput): void => void outputs.push(output)) {
    const { signal } = abort;
    return new OutputCollector({ runId, outputDir, classes: new Map(), files, signal, maxOutputs: MAX_OUTPUTS, emit });
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
      ['1', 2, 'file'],
      ['1', 3, 'bytes'],
      ['2', 0, 'bytes'],
    ]);
    const contents = outputs.map((output) => {
      if (isText(output)) throw new Error('A file was reported as text.');
      return output.kind === 'bytes' ? output.bytes : readFileSync(output.path);
    });
    expect(contents.map(({ length }) => length)).toEqual([HELD_BYTES - 10, 11, 10, 1, 7]);
    expect(contents.map((bytes) => bytes.toString('latin1', 0, 1))).toEqual(['a', 'b', 'c', 'd', 'p']);
  });

  it('that are texts count towards the bound, in bytes, and are files beyond it', async () => {
    const collecting = collector();
    const half = 'ü'.repeat(HELD_BYTES / 4);
    collecting.take({ nodeId: '1', source: '1', output: { text: [half, half, 'one more', 7] } });
    expect(await collecting.whenDone()).toBeNull();
    expect(outputs.map(({ index, kind }) => [index, kind])).toEqual([
      [0, 'text'],
      [1, 'text'],
      [2, 'text_file'],
      [3, 'text_file'],
    ]);
    expect(outputs.flatMap((output) => (output.kind === 'text_file' ? readFileSync(output.path, 'utf8') : []))).toEqual(
      ['one more', '7'],
    );
  });

  it('that come over the socket do not wait in memory for a file that is fetched', async () => {
    let deliver: (value: Buffer) => void = () => undefined;
    const files = { fetch: () => new Promise<Buffer>((resolve) => (deliver = resolve)) } as unknown as RunFiles;
    const collecting = collectorOf(files);
    collecting.take({ nodeId: '1', source: '1', output: reported('a.png') });
    for (const picture of ['first', 'second']) {
      collecting.takePicture('2', 'image/png', Buffer.alloc(HELD_BYTES, picture));
    }
    await eventually('the pictures are written', () => existsSync(outputDir) && readdirSync(outputDir).length === 1);
    expect(outputs).toEqual([]);
    deliver(Buffer.from('fetched'));
    expect(await collecting.whenDone()).toBeNull();
    expect(
      outputs.map((output) => [output.nodeId, output.index, output.kind, 'name' in output && output.name]),
    ).toEqual([
      ['1', 0, 'bytes', 'a.png'],
      ['2', 0, 'bytes', 'ComfyUI_00001_.png'],
      ['2', 1, 'file', 'ComfyUI_00002_.png'],
    ]);
  });

  it('that come faster than the disk takes them are dropped, and the disk is to blame', async () => {
    const collecting = collector();
    const picture = Buffer.alloc(MAX_UNWRITTEN_BYTES / 4);
    for (let n = 0; n < 6; n += 1) collecting.takePicture('2', 'image/png', picture);
    const error: unknown = await collecting.whenDone().catch((thrown: unknown) => thrown);
    expect(diskFaultOf(error)).toBe('the disk of its worker failed (EIO)');
    expect(readdirSync(outputDir).length).toBeLessThanOrEqual(4);
  });

  const texts = (count: number): { nodeId: string; source: string; output: Record<string, unknown> } => ({
    nodeId: '1',
    source: '1',
    output: { text: ['x'.repeat(HELD_BYTES), ...Array.from({ length: count - 1 }, (_, at) => `text ${at}`)] },
  });

  it('are collected up to one more than the caller takes, in all', async () => {
    const collecting = collector();
    collecting.take(texts(6_000));
    collecting.take({ nodeId: '2', source: '2', output: reported('a.png') });
    collecting.takeUnreported('3', [{ type: 'output', path: 'b.png' }]);
    expect(await collecting.whenDone()).toBeNull();
    collecting.takePicture('4', 'image/png', Buffer.from('picture'));
    expect(await collecting.whenDone()).toBeNull();
    expect(outputs).toHaveLength(MAX_OUTPUTS + 1);
    expect(readdirSync(outputDir)).toHaveLength(MAX_OUTPUTS);
  });

  it('are collected no further once the run is to stop', async () => {
    const collecting = collectorOf(filesOf({}) as RunFiles, (output) => {
      outputs.push(output);
      if (outputs.length === 10) abort.abort();
    });
    collecting.take(texts(500));
    collecting.take(texts(500));
    await expect(collecting.whenDone()).rejects.toThrow('aborted');
    expect(readdirSync(outputDir)).toHaveLength(9);
  });

  it('that lie in the temporary folder are all known, also those that are not collected', async () => {
    const names = Array.from({ length: 2 * MAX_OUTPUTS }, (_, at) => `${at}.png`);
    const collecting = collector();
    const images = names.map((filename) => ({ filename, subfolder: '', type: 'temp' }));
    collecting.take({ nodeId: '1', source: '1', output: { images, text: ['a'] } });
    expect(collecting.temporaryFiles).toEqual(names.map((path) => ({ type: 'temp', path })));
    expect(await collecting.whenDone()).toBeNull();
    expect(outputs).toHaveLength(MAX_OUTPUTS + 1);
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

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseLenientJson } from '../protocol/lenient-json';
import { reportedItems, type ReportedItem } from './reported-items';

const RUN = 'r1';
const itemsOf = (output: Record<string, unknown>): ReportedItem[] => [...reportedItems(output, RUN)];

interface Recorded {
  outputs: Record<string, Record<string, unknown>>;
}

const recorded = parseLenientJson(
  readFileSync(join(__dirname, '../../../fixtures/captures/output_formats.json'), 'utf8'),
) as Record<string, Recorded>;

/** A recorded report, as if its files lay in the folder of the run. */
function ownReports({ outputs }: Recorded): Record<string, unknown>[] {
  const own = JSON.stringify(Object.values(outputs)).replaceAll(
    /"subfolder":\s*"[^"]*"/g,
    `"subfolder":"millrace/${RUN}/1"`,
  );
  return JSON.parse(own) as Record<string, unknown>[];
}

describe('what nodes report', () => {
  it.each(Object.entries(recorded))('is read as a recorded %s reported it', (_name, recording) => {
    const files = JSON.stringify(recording.outputs).match(/"filename"/g) ?? [];
    const items = ownReports(recording).flatMap((output) => itemsOf(output));
    expect(items.filter(({ kind }) => kind === 'file')).toHaveLength(files.length);
    expect(items.filter(({ kind }) => kind === 'foreign')).toEqual([]);
  });

  const inRun = { subfolder: `millrace/${RUN}/2`, type: 'output' };

  it('is a file under any kind, with anything else said of it', () => {
    const gif = {
      filename: 'v_00001.mp4',
      ...inRun,
      format: 'video/h264-mp4',
      fullpath: '/srv/out/v.mp4',
      frame_rate: 8,
    };
    expect(itemsOf({ gifs: [gif] })).toEqual([
      { kind: 'file', name: 'v_00001.mp4', file: { type: 'output', path: `millrace/${RUN}/2/v_00001.mp4` } },
    ]);
  });

  it('is a file of the temporary folder when it says so', () => {
    expect(itemsOf({ images: [{ filename: 't.png', subfolder: '', type: 'temp' }] })).toEqual([
      { kind: 'file', name: 't.png', file: { type: 'temp', path: 't.png' } },
    ]);
  });

  it('is text, item by item', () => {
    expect(itemsOf({ text: ['a', 'b\n'], tags: ['c'], string: [['d', 'e']] })).toEqual(
      ['a', 'b\n', 'c', 'd', 'e'].map((text) => ({ kind: 'text', text })),
    );
    expect(itemsOf({ text: [5, true, null], value: [1.5] })).toEqual(
      ['5', 'true', '1.5'].map((text) => ({ kind: 'text', text })),
    );
  });

  it('is nothing where it only describes', () => {
    expect(itemsOf({ animated: [true], n: [null, 3], camera: [{ x: 1 }], result: [null] })).toEqual([]);
  });

  it('is a file of the run where a preview of a model names it by its path, and text else', () => {
    expect(itemsOf({ result: [`millrace/${RUN}/2/m.glb`, null] })).toEqual([
      { kind: 'file', name: 'm.glb', file: { type: 'output', path: `millrace/${RUN}/2/m.glb` } },
    ]);
    expect(itemsOf({ result: ['millrace/r2/2/m.glb', null] })).toEqual([{ kind: 'text', text: 'millrace/r2/2/m.glb' }]);
  });

  it.each([
    [{ filename: 'a.png', subfolder: 'millrace/r2', type: 'output' }],
    [{ filename: 'a.png', subfolder: '', type: 'output' }],
    [{ filename: 'a.png', subfolder: `millrace/${RUN}/../r2`, type: 'output' }],
    [{ filename: '../../r2/a.png', ...inRun }],
    [{ filename: '/etc/passwd', ...inRun }],
    [{ filename: '..\\a.png', ...inRun }],
    [{ filename: '', ...inRun }],
    [{ filename: 'a/', ...inRun }],
    [{ filename: 'a.png', subfolder: '../output', type: 'temp' }],
    [{ filename: 'a.png', subfolder: '', type: 'models' }],
    [{ filename: 'a\u0000.png', ...inRun }],
  ])('is not handed out when it is not the run’s own: %j', (item) => {
    expect(itemsOf({ images: [item] })).toEqual([{ kind: 'foreign', name: item.filename }]);
  });

  it.each(['elsewhere', `millrace/${RUN}`, `millrace/${RUN}/2`])(
    'is no output where a loader shows what it loaded from %s',
    (subfolder) => {
      expect(itemsOf({ images: [{ filename: '1.png', subfolder, type: 'input' }] })).toEqual([]);
    },
  );
});

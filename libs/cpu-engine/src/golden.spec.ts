import { randomUUID } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { member, members, parseJson, sliceOf } from '@millrace/workflow';
import sharp from 'sharp';
import { outputsOf, startRun, textOf, type RunUnderTest } from '@millrace/engines/conformance';
import type { EngineOutput, InputFile } from '@millrace/engines';
import { CpuEngine } from './cpu.engine';

type Expected = { text: string } | { file: string };
interface GoldenCase {
  name: string;
  /** As the file has it, digit for digit. */
  workflow: string;
  classes: string[];
  outputs: Record<string, Expected[]>;
}

const FIXTURES = join(__dirname, '../fixtures');

/** Classes that only move whole pixels or reckon with whole numbers: not a level may differ. */
const EXACT = new Set(
  `LoadImage LoadImageMask SaveImage PreviewImage MaskPreview PreviewAny EmptyImage SolidMask MaskToImage ImageToMask
  ImageColorToMask ImageCrop CropMask ImageFlip ImageRotate ImageFromBatch RepeatImageBatch RebatchImages GetImageSize
  ThresholdMask GrowMask`.split(/\s+/),
);

/** For everything else: levels per channel at most, and on average. */
const TOLERANCE = { largest: 2, mean: 0.5 };

const COLUMNS = 3;

/** Shorter ones, such as `True`, are words of the language that the engine speaks. */
const SHORTEST_DISTINCT_TEXT = 8;

/** The bounds of an integer of 64 bits stand in the catalogue, too. */
const isWidestInteger = (text: string): boolean => /^-?(?:9223372036854775807|18446744073709551615)$/.test(text);

function casesOf(folder: string): GoldenCase[] {
  const text = readFileSync(join(FIXTURES, folder, 'cases.json'), 'utf8');
  return [...members(parseJson(text))].map(([name, node]) => {
    const [workflow, outputs] = ['workflow', 'outputs'].map((key) => sliceOf(member(node, key) ?? node, text));
    const graph = JSON.parse(workflow ?? '') as Record<string, { class_type: string }>;
    return {
      name,
      workflow: workflow ?? '',
      classes: Object.values(graph).map(({ class_type }) => class_type),
      outputs: JSON.parse(outputs ?? '') as GoldenCase['outputs'],
    };
  });
}

function inputsOf(folder: string): InputFile[] {
  const inputs = join(FIXTURES, folder, 'inputs');
  return readdirSync(inputs).map((name) => ({ name, path: join(inputs, name), contentType: 'image/png' }));
}

async function pixelsOf(path: string): Promise<{ shape: string; data: Buffer }> {
  const { data, info } = await sharp(path).raw().toBuffer({ resolveWithObject: true });
  return { shape: `${info.width}×${info.height}×${info.channels}`, data };
}

/** By how many levels two pictures of one shape differ. */
function difference(a: Buffer, b: Buffer): { largest: number; mean: number } {
  let [largest, sum] = [0, 0];
  for (let i = 0; i < a.length; i += 1) {
    const levels = Math.abs((a[i] as number) - (b[i] as number));
    largest = Math.max(largest, levels);
    sum += levels;
  }
  return { largest, mean: sum / a.length };
}

function pathOf(output: EngineOutput): string {
  if (output.kind !== 'file') throw new Error(`Node ${output.nodeId} reported text where a picture was expected.`);
  return output.path;
}

/**
 * Cases in three columns, each with the largest difference of any level in any of its pictures; texts agree or fail. Of
 * the many siblings only those that differ.
 */
function tableOf(folder: string, errors: ReadonlyMap<string, { largest: number; mean: number }>): string {
  const exact = [...errors.values()].filter(({ largest }) => largest === 0).length;
  const head = `${folder}: largest difference per case, of 255 levels; ${exact} of ${errors.size} agree to the level`;
  const isWhole = folder === 'golden';
  const cells = [...errors]
    .filter(([, { largest }]) => isWhole || largest > 0)
    .map(([name, { largest }]) => `${name.padEnd(36)} ${largest}`);
  const rows = Array.from({ length: Math.ceil(cells.length / COLUMNS) }, (_, row) =>
    cells.slice(row * COLUMNS, (row + 1) * COLUMNS).join('   '),
  );
  return [head, ...rows.map((row) => `  ${row}`)].join('\n');
}

describe.each(['golden', 'siblings'])('the CPU engine gives what ComfyUI gives: %s', (folder) => {
  const engine = new CpuEngine();
  const errors = new Map<string, { largest: number; mean: number }>();
  const inputs = inputsOf(folder);
  const cases = casesOf(folder);

  beforeAll(() => engine.start());

  afterAll(async () => {
    await engine.close();
    process.stdout.write(`${tableOf(folder, errors)}\n`);
  });

  async function expectPictures(golden: GoldenCase, node: string, run: RunUnderTest): Promise<void> {
    const mine = outputsOf(run).filter(({ nodeId }) => nodeId === node);
    const isExact = golden.classes.every((name) => EXACT.has(name));
    for (const [index, expected] of (golden.outputs[node] ?? []).entries()) {
      const output = mine[index];
      if (!output || !('file' in expected)) throw new Error(`Node ${node} has no output ${index}.`);
      const theirs = await pixelsOf(join(FIXTURES, folder, 'expected', expected.file));
      const ours = await pixelsOf(pathOf(output));
      expect(ours.shape).toBe(theirs.shape);
      const error = difference(ours.data, theirs.data);
      if (error.largest >= (errors.get(golden.name)?.largest ?? 0)) errors.set(golden.name, error);
      expect(error.largest).toBeLessThanOrEqual(isExact ? 0 : TOLERANCE.largest);
      expect(error.mean).toBeLessThanOrEqual(isExact ? 0 : TOLERANCE.mean);
    }
  }

  it.each(cases)('$name', async (golden) => {
    const run = startRun(engine, golden.workflow, { inputs, cacheScope: randomUUID() });
    expect(await run.result).toEqual({ status: 'succeeded' });
    expect(new Set(outputsOf(run).map(({ nodeId }) => nodeId))).toEqual(new Set(Object.keys(golden.outputs)));
    for (const [node, expected] of Object.entries(golden.outputs)) {
      const mine = outputsOf(run).filter(({ nodeId }) => nodeId === node);
      expect(mine).toHaveLength(expected.length);
      const texts = expected.flatMap((output) => ('text' in output ? [output.text] : []));
      if (texts.length > 0) {
        expect(mine.map((output) => textOf(output))).toEqual(texts);
        if (!errors.has(golden.name)) errors.set(golden.name, { largest: 0, mean: 0 });
      } else await expectPictures(golden, node, run);
    }
  });
});

describe('the source of the engine', () => {
  const sources = readdirSync(__dirname, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.[cm]?[jt]s$/.test(file) && !/spec\.ts$/.test(file))
    .map((file) => ({ file, text: readFileSync(join(__dirname, file), 'utf8') }));

  it('knows nothing of the fixtures, and holds no table long enough to be a picture', () => {
    expect(sources.length).toBeGreaterThan(100);
    for (const { file, text } of sources) {
      expect([file, text.match(/fixtures|golden|\.expected|[a-z_]+\.\d+\.\d+\.png/gi)]).toEqual([file, null]);
      expect([file, text.match(/(?:-?\d[\d._e+-]*n?\s*,\s*){40}|[A-Za-z0-9+/=]{200}/g)]).toEqual([file, null]);
    }
  });

  it('holds no text that a case expects', () => {
    const cases = ['golden', 'siblings'].flatMap((folder) => casesOf(folder));
    const texts = cases.flatMap(({ outputs }) =>
      Object.values(outputs).flatMap((expected) =>
        expected.flatMap((output) =>
          'text' in output && output.text.length >= SHORTEST_DISTINCT_TEXT && !isWidestInteger(output.text)
            ? [output.text]
            : [],
        ),
      ),
    );
    expect(texts.length).toBeGreaterThan(20);
    for (const { file, text } of sources)
      expect([file, texts.filter((expected) => text.includes(expected))]).toEqual([file, []]);
  });
});

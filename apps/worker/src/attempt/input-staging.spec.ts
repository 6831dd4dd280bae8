import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { Blake3Hasher } from '@napi-rs/blake-hash';
import { Refusal } from '@millrace/contracts';
import { parseWorkflow } from '@millrace/workflow';
import { InputNotStaged, stageInputs, type InputSource } from './input-staging';

const ID = '0197aa00-0000-7000-8000-00000000000a';
const graph = parseWorkflow(
  JSON.stringify({ '7': { class_type: 'LoadImage', inputs: { image: { __type: 'core/ASSET', info: { id: ID } } } } }),
);
const hashOf = (text: string): string => `blake3:${new Blake3Hasher().update(text).digest('hex')}`;
const never = new AbortController().signal;

let folder: string;
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'millrace-staging-'))));
afterAll(() => rmSync(folder, { recursive: true }));

/** A store that answers each request with the next of `texts`, and looks at what lies there when it is doubted. */
function sourceOf(texts: string[], hash: string | null, isDamaged: boolean | Error): InputSource & { doubts: number } {
  return {
    doubts: 0,
    openInput() {
      const body = Readable.from([Buffer.from(texts.shift() ?? '')]);
      return Promise.resolve({ asset: { filePath: 'in.png', contentType: 'image/png', blob: { hash } }, body });
    },
    doubtInput() {
      this.doubts += 1;
      return isDamaged instanceof Error ? Promise.reject(isDamaged) : Promise.resolve(isDamaged);
    },
  };
}

/** A connection that brings a text and then breaks. */
function broken(text: string): Readable {
  let isSent = false;
  return new Readable({
    read() {
      if (isSent) this.destroy(Object.assign(new Error('aborted'), { code: 'ECONNRESET' }));
      else this.push(text);
      isSent = true;
    },
  });
}

/** A store whose first connections break, each after so many bytes. */
function breakingSource(whole: string, ...lengths: number[]): InputSource & { froms: number[] } {
  return {
    froms: [],
    openInput(_accountId, _id, from = 0) {
      this.froms.push(from);
      const length = lengths.shift();
      const body = length === undefined ? Readable.from([Buffer.from(whole.slice(from))]) : null;
      const asset = { filePath: 'in.png', contentType: 'image/png', blob: { hash: hashOf(whole) } };
      return Promise.resolve({ asset, body: body ?? broken(whole.slice(from, from + (length ?? 0))) });
    },
    doubtInput: () => Promise.resolve(false),
  };
}

const stage = (source: InputSource): ReturnType<typeof stageInputs> =>
  stageInputs(source, 'account', graph, () => Promise.resolve(folder), never);

async function failureOf(source: InputSource): Promise<InputNotStaged['failure']> {
  const error: unknown = await stage(source).catch((caught: unknown) => caught);
  if (!(error instanceof InputNotStaged)) throw error;
  return error.failure;
}

it('bytes with the hash of their record are staged, and doubted by nobody', async () => {
  const source = sourceOf(['sound'], hashOf('sound'), new Error('not asked'));
  const { inputs } = await stage(source);
  expect(readFileSync(inputs[0]?.path ?? '', 'utf8')).toBe('sound');
  expect(source.doubts).toBe(0);
});

it('bytes that are damaged where they lie fail the run at once, with the asset and its node', async () => {
  const source = sourceOf(['rotten', 'rotten'], hashOf('sound'), true);
  expect(await failureOf(source)).toMatchObject({
    code: 'input_unavailable',
    node_id: '7',
    message: expect.stringMatching(new RegExp(`${ID}.*damaged; upload the file again`)) as string,
  });
  expect(source.doubts).toBe(1);
});

it('bytes that were damaged on their way are fetched again', async () => {
  const { inputs } = await stage(sourceOf(['garbled', 'sound'], hashOf('sound'), false));
  expect(readFileSync(inputs[0]?.path ?? '', 'utf8')).toBe('sound');
});

it('bytes of a connection that breaks are kept, and the next one goes on behind them, as often as that gets on', async () => {
  const source = breakingSource('0123456789', 1, 2, 0, 1, 1, 2, 0, 0, 1);
  const { inputs } = await stage(source);
  expect(readFileSync(inputs[0]?.path ?? '', 'utf8')).toBe('0123456789');
  expect(source.froms).toEqual([0, 1, 3, 3, 4, 5, 7, 7, 7, 8]);
});

it('a store whose connections bring nothing does not answer', async () => {
  const source = breakingSource('0123456789', 5, 0, 0, 0, 0);
  expect((await failureOf(source)).message).toContain('the blob store does not answer');
  expect(source.froms).toEqual([0, 5, 5, 5]);
});

it('a disk that does not take them is no fault of the store', async () => {
  const staged = stageInputs(
    breakingSource('whole'),
    'account',
    graph,
    () => Promise.resolve(join(folder, 'none')),
    never,
  );
  await expect(staged).rejects.toMatchObject({ code: 'ENOENT', syscall: 'open' });
});

it('that they arrive damaged each time is said', async () => {
  const failure = await failureOf(sourceOf([], hashOf('sound'), false));
  expect(failure.message).toContain('arrived damaged');
});

it('bytes of a gateway that says no hash are taken as they are', async () => {
  const { inputs } = await stage(sourceOf(['anything'], null, new Error('not asked')));
  expect(readFileSync(inputs[0]?.path ?? '', 'utf8')).toBe('anything');
});

it.each([
  [new Refusal('content_lost', 'lost'), 'lost or damaged'],
  [new Refusal('not_found', 'none'), 'does not exist any more'],
])('a refusal of the service is reported: %s', async (error, said) => {
  const source = { ...sourceOf([], null, false), openInput: () => Promise.reject(error) };
  expect((await failureOf(source)).message).toContain(said);
});

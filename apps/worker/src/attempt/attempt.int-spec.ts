import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { NodeCatalogue } from '@millrace/contracts';
import { ComfyuiEngine } from '@millrace/engines';
import type { AttemptResult, Fence } from '@millrace/jobs';
import { Metrics, createLogger } from '@millrace/platform';
import { ComfyuiSimulator } from '@millrace/testing';
import { EngineSlot } from '../engines/engine-slot';
import { Attempt, type AttemptParts } from './attempt';
import { claimedAttempt } from './fixtures/claimed-attempt';

/** Every text that is read as JSON without loss, by any part of the worker. */
const parsed: string[] = [];
jest.mock('@millrace/workflow', () => {
  const actual = jest.requireActual<typeof import('@millrace/workflow')>('@millrace/workflow');
  const parseJson: typeof actual.parseJson = (text, limits) => {
    parsed.push(text);
    return actual.parseJson(text, limits);
  };
  const parseWorkflow: typeof actual.parseWorkflow = (text, limits) => {
    parsed.push(text);
    return actual.parseWorkflow(text, limits);
  };
  return { ...actual, parseJson, parseWorkflow };
});

const ASSET_ID = '0197aa00-0000-7000-8000-00000000000a';
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNgYGAAAAAEAAH2FzhVAAAAAElFTkSuQmCC',
  'base64',
);
/** The number is one that no double holds. */
const WORKFLOW = `{"1":{"class_type":"LoadImage","inputs":{"image":{"__type":"core/ASSET","info":{"id":"${ASSET_ID}"}}}},
  "2":{"class_type":"SaveImage","inputs":{"images":["1",0],"filename_prefix":"only once"}},
  "3":{"class_type":"PrimitiveInt","inputs":{"value":9223372036854775807}},
  "4":{"class_type":"PreviewAny","inputs":{"source":["3",0]}}}`;

const logger = createLogger('test', 'fatal');

let folder: string;
let simulator: ComfyuiSimulator;
let engine: ComfyuiEngine;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-attempt-test-'));
  simulator = await ComfyuiSimulator.start();
  engine = new ComfyuiEngine({ server: { mode: 'attach', url: simulator.url } });
  await engine.start();
});
afterAll(async () => {
  await engine.close();
  await simulator.stop();
  await rm(folder, { recursive: true });
});

/** What an attempt uses beside its engine: an asset to be staged, outputs that are stored at once, and the end of it. */
function partsOf(catalogue: NodeCatalogue, onFinish: (result: AttemptResult) => void): AttemptParts {
  const lifecycle = {
    heartbeat: () => Promise.resolve({ status: 'running', exhausted: false }),
    finish: (_fence: Fence, result: AttemptResult) => Promise.resolve(onFinish(result)),
  };
  const storeOutput = (_accountId: string, source: Readable): Promise<object> => {
    source.resume();
    return Promise.resolve({ blob: {}, contentType: 'image/png' });
  };
  const openInput = (): Promise<object> =>
    Promise.resolve({ asset: { filePath: 'in.png', contentType: 'image/png' }, body: Readable.from([PIXEL]) });
  return {
    jobs: { lifecycle, outputs: { record: () => Promise.resolve(true) }, signals: { progressed: () => undefined } },
    assets: { assets: { storeOutput }, content: { openInput } },
    catalogue: () => catalogue,
    logger,
    metrics: new Metrics('test'),
    workDir: folder,
    leaseSeconds: 10,
    logTailBytes: 64,
  } as unknown as AttemptParts;
}

describe('an attempt', () => {
  it('parses its graph once, from the staging of its inputs to the engine', async () => {
    const ends: AttemptResult[] = [];
    const parts = partsOf(await engine.catalogue(), (result) => ends.push(result));
    const slot = new EngineSlot(engine, logger);
    const claimed = claimedAttempt({ jobId: randomUUID(), workflow: WORKFLOW });
    parsed.length = 0;
    await new Attempt(parts, claimed, slot, new AbortController().signal).run(() => undefined);

    expect(ends).toMatchObject([{ outcome: 'succeeded', failure: null }]);
    expect(parsed.filter((text) => text.includes('only once'))).toEqual([WORKFLOW]);
    const posted = simulator.server.posted.at(-1)?.text ?? '';
    expect(posted).toContain('9223372036854775807');
    expect(posted).not.toContain('core/ASSET');
  });
});

import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { eventually } from '@millrace/testing';
import {
  logOf,
  bytesOf,
  outputsOf,
  quickestStopMs,
  scratchDir,
  startRun,
  type Graph,
  type RunUnderTest,
  type Watch,
} from './run-workflow';
import { isText, type Engine, type EngineEvent, type EngineWork, type InputFile } from '../src/engine';

/** An engine to hold to the port's contract, and graphs of its own for what no class that all engines know can show. */
export interface EngineUnderTest {
  /** Started. */
  engine: Engine;
  close(): Promise<void>;
  /** Fails at run time in the node named. */
  failing: { graph: Graph; nodeId: string; classType: string };
  /** A graph with one node that reports this many steps. */
  stepping: { graph: Graph; nodeId: string; steps: number };
  /** Runs for minutes unless it is interrupted. */
  endless: Graph;
  /** Milliseconds from an abort to the end of the run, at most. */
  interruptBoundMs: number;
  /** Prints lines that match these, in this order. */
  talkative: { graph: Graph; lines: RegExp[] };
}

/** No single log event is longer than this: how much of a log is kept is the caller's business, in pieces it can handle. */
const MAX_LOG_EVENT_CHARS = 64 * 1024;

/** Whole numbers that a double can not hold, or that other widths would cut. */
const WIDE_NUMBERS = ['9007199254740993', '-9007199254740993', '9223372036854775807', '-9223372036854775807'];

/** Two pictures of one pixel: black and white. */
const PIXELS = {
  black: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNgYGAAAAAEAAH2FzhVAAAAAElFTkSuQmCC',
  white: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4//8/AAX+Av4N70a4AAAAAElFTkSuQmCC',
};

/** A picture in a colour that no other run has, so that nothing is found in a cache by chance. */
function source(batchSize = 1): Graph[string] {
  const color = Math.floor(Math.random() * 0xffffff);
  return { class_type: 'EmptyImage', inputs: { width: 24, height: 16, batch_size: batchSize, color } };
}

function save(from: string, prefix = 'kept'): Graph[string] {
  return { class_type: 'SaveImage', inputs: { images: [from, 0], filename_prefix: prefix } };
}

function inputFile(pixel: keyof typeof PIXELS): InputFile {
  const path = join(scratchDir(), 'bytes');
  writeFileSync(path, Buffer.from(PIXELS[pixel], 'base64'));
  return { name: 'pixel.png', path, contentType: 'image/png' };
}

const LOAD: Graph = { '1': { class_type: 'LoadImage', inputs: { image: 'pixel.png' } }, '2': save('1') };

function nodesOf({ events }: RunUnderTest, type: 'node_started' | 'node_finished'): string[] {
  return events.flatMap((event) => (event.type === type ? [event.nodeId] : []));
}

function cachedOf({ events }: RunUnderTest): string[] {
  return events.flatMap((event) => (event.type === 'nodes_cached' ? event.nodeIds : []));
}

/** Where each kind of event about a node stands among all. */
function placesOf(events: EngineEvent[], nodeId: string): { started: number; finished: number; outputs: number[] } {
  const isAbout = (type: EngineEvent['type']) => (event: EngineEvent) =>
    event.type === type && 'nodeId' in event && event.nodeId === nodeId;
  return {
    started: events.findIndex(isAbout('node_started')),
    finished: events.findIndex(isAbout('node_finished')),
    outputs: events.flatMap((event, place) =>
      event.type === 'output' && event.output.nodeId === nodeId ? [place] : [],
    ),
  };
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

/** What every engine is held to. Run it in the spec of each: `engineConformance('cpu', () => …)`. */
export function engineConformance(name: string, open: () => Promise<EngineUnderTest>): void {
  describe(`${name} keeps the contract of an engine`, () => {
    let target: EngineUnderTest;

    beforeAll(async () => {
      target = await open();
    });

    afterAll(() => target.close());

    const start = (graph: Graph | string, work: Partial<EngineWork> = {}, watch: Watch = {}): RunUnderTest =>
      startRun(target.engine, graph, work, watch);

    it('is ready once started, and lists the node classes that it runs', async () => {
      expect(await target.engine.health()).toMatchObject({ ready: true, problem: null });
      const catalogue = await target.engine.catalogue();
      expect(catalogue).toMatchObject({ SaveImage: { outputNode: true }, EmptyImage: { outputNode: false } });
    });

    it('keeps nothing of a run that is over, while the signal that may abort it lives on', async () => {
      const { signal } = new AbortController();
      const graphs: WeakRef<object>[] = [];
      for (let n = 0; n < 4; n += 1) {
        const run = start(
          { '1': source(), '2': save('1') },
          {},
          { signal, graph: (graph) => graphs.push(new WeakRef(graph)) },
        );
        await run.result;
      }
      // The latest may still be in the hands of what has just ended.
      const kept = (): number => graphs.slice(0, -1).filter((graph) => graph.deref() !== undefined).length;
      await eventually('their graphs are collected', () => {
        collectGarbage();
        return kept() === 0;
      });
    });

    it.each(WIDE_NUMBERS)('brings %s to a node digit for digit', async (value) => {
      const run = start(`{"1":{"class_type":"PrimitiveInt","inputs":{"value":${value}}},
        "2":{"class_type":"PreviewAny","inputs":{"source":["1",0]}}}`);
      expect(await run.result).toEqual({ status: 'succeeded' });
      expect(outputsOf(run)).toEqual([{ nodeId: '2', index: 0, kind: 'text', text: value }]);
    });

    it('reports every node in order: what it needs first, its outputs before its end', async () => {
      const graph = { '7': save('3'), '3': { class_type: 'ImageBatch', inputs: links('1', '2') } };
      const run = start({ ...graph, '1': source(), '2': source() });
      expect(await run.result).toEqual({ status: 'succeeded' });
      expect(run.events.filter(({ type }) => type !== 'log')[0]).toEqual({ type: 'started' });
      expect(nodesOf(run, 'node_started').sort()).toEqual(['1', '2', '3', '7']);
      expect(nodesOf(run, 'node_finished').sort()).toEqual(['1', '2', '3', '7']);
      const [one, two, batch, saved] = ['1', '2', '3', '7'].map((id) => placesOf(run.events, id)) as Places;
      expect(Math.max(one.finished, two.finished)).toBeLessThan(batch.started);
      expect(batch.finished).toBeLessThan(saved.started);
      expect(saved.outputs).toHaveLength(2);
      for (const place of saved.outputs) expect(place).toBeGreaterThan(saved.started);
    });

    it('reports each step of a node in turn, between its beginning and its end', async () => {
      const { graph, nodeId, steps } = target.stepping;
      const run = start(graph);
      expect(await run.result).toEqual({ status: 'succeeded' });
      const reported = run.events.flatMap((event) => (event.type === 'node_step' ? [event] : []));
      expect(reported).toEqual(
        Array.from({ length: steps }, (_, at) => ({ type: 'node_step', nodeId, step: at + 1, steps })),
      );
      const { started, finished } = placesOf(run.events, nodeId);
      const places = reported.map((event) => run.events.indexOf(event));
      expect(Math.min(...places)).toBeGreaterThan(started);
      expect(Math.max(...places)).toBeLessThan(finished);
    });

    it('runs no node that no output needs', async () => {
      const run = start({ '1': source(), '2': save('1'), '3': source() });
      expect(await run.result).toEqual({ status: 'succeeded' });
      expect(nodesOf(run, 'node_started').sort()).toEqual(['1', '2']);
    });

    it('hands over every output in memory or as a file below the folder of the run, numbered within its node', async () => {
      const run = start({ '1': source(2), '2': save('1', 'deep/er/kept'), '3': source(), '4': save('3') });
      expect(await run.result).toEqual({ status: 'succeeded' });
      const outputs = outputsOf(run);
      expect(outputs.map(({ nodeId, index }) => `${nodeId}.${index}`).sort()).toEqual(['2.0', '2.1', '4.0']);
      for (const output of outputs) {
        if (isText(output)) throw new Error('A picture was reported as text.');
        expect(output.name).toMatch(/^kept_\d{5}_\.png$/);
        if (output.kind === 'file') expect(output.path.startsWith(`${run.outputDir}/`)).toBe(true);
        expect(bytesOf(output).subarray(1, 4).toString()).toBe('PNG');
      }
    });

    it('reports every output again in a second run of the scope, with bytes or files of that run', async () => {
      const graph = { '1': source(2), '2': save('1') };
      const cacheScope = randomUUID();
      expect(await start(graph, { cacheScope }).result).toEqual({ status: 'succeeded' });
      const second = start(graph, { cacheScope });
      expect(await second.result).toEqual({ status: 'succeeded' });
      expect(outputsOf(second)).toHaveLength(2);
      for (const output of outputsOf(second)) {
        if (output.kind === 'file') expect(output.path.startsWith(`${second.outputDir}/`)).toBe(true);
        expect(bytesOf(output).length).toBeGreaterThan(0);
      }
    });

    it('shares results within a scope and never between two', async () => {
      const graph = { '1': source(), '2': save('1') };
      const cacheScope = randomUUID();
      expect(await start(graph, { cacheScope }).result).toEqual({ status: 'succeeded' });
      const foreign = start(graph);
      expect(await foreign.result).toEqual({ status: 'succeeded' });
      expect(cachedOf(foreign)).toEqual([]);
      expect(nodesOf(foreign, 'node_started').sort()).toEqual(['1', '2']);
      const own = start(graph, { cacheScope });
      expect(await own.result).toEqual({ status: 'succeeded' });
      const computed = nodesOf(own, 'node_started');
      expect(computed.filter((id) => cachedOf(own).includes(id))).toEqual([]);
      expect([...new Set([...computed, ...cachedOf(own)])].sort()).toEqual(['1', '2']);
    });

    it('computes again what came from a file whose content has changed', async () => {
      const cacheScope = randomUUID();
      expect(await start(LOAD, { cacheScope, inputs: [inputFile('black')] }).result).toEqual({ status: 'succeeded' });
      const changed = start(LOAD, { cacheScope, inputs: [inputFile('white')] });
      expect(await changed.result).toEqual({ status: 'succeeded' });
      expect(cachedOf(changed)).toEqual([]);
    });

    it('says which node lacks an input file', async () => {
      const run = start(LOAD);
      expect(await run.result).toMatchObject({
        status: 'failed',
        failure: { code: 'input_unavailable', nodeId: '1', classType: 'LoadImage' },
      });
    });

    it('names the node that fails, without a path of the machine', async () => {
      const { graph, nodeId, classType } = target.failing;
      const run = start(graph);
      const result = await run.result;
      expect(result).toMatchObject({
        status: 'failed',
        failure: { code: 'node_execution_error', nodeId, classType, message: expect.stringMatching(/\w/) as string },
      });
      const { traceback } = (result as { failure: { traceback: string | null } }).failure;
      expect(traceback ?? '').not.toMatch(/(?:^|[\s"'(])\/(?:home|root|tmp|usr|opt|srv|var)\//);
    });

    it.each(['{}', '[]', '{"1": 5}', '{"1":{"class_type":"NoSuchClass","inputs":{}}}'])(
      'settles as failed, and does not reject, on the workflow %j',
      async (workflow) => {
        expect(await start(workflow).result).toMatchObject({ status: 'failed' });
      },
    );

    it('refuses a graph with a class that it lacks, though no output that it knows needs that node', async () => {
      const unknown = { class_type: 'SaveNowhere', inputs: { images: ['1', 0] } };
      const run = start({ '1': source(), '2': save('1'), '3': unknown });
      expect(await run.result).toMatchObject({
        status: 'failed',
        failure: { nodeId: '3', classType: 'SaveNowhere', message: expect.stringContaining('SaveNowhere') as string },
      });
      expect(outputsOf(run)).toEqual([]);
    });

    it('stops within its bound when aborted, and is silent from then on', async () => {
      const runs: RunUnderTest[] = [];
      const begin = (): RunUnderTest => {
        const run = start(target.endless);
        runs.push(run);
        return run;
      };
      expect(await quickestStopMs(begin, target.interruptBoundMs)).toBeLessThan(target.interruptBoundMs);
      const reported = runs.map(({ events }) => events.length);
      expect(await start({ '1': source(), '2': save('1') }).result).toEqual({ status: 'succeeded' });
      expect(runs.map(({ events }) => events.length)).toEqual(reported);
    });

    it('loses a run whose observer throws, at once and without another event, and runs the next', async () => {
      const run = startRun(
        target.engine,
        target.endless,
        {},
        {
          observe: ({ type }) => {
            if (type === 'node_started') throw new Error('the observer is broken');
          },
        },
      );
      expect(await run.result).toMatchObject({ status: 'lost', reason: 'its events could not be received' });
      expect(run.events.at(-1)?.type).toBe('node_started');
      expect(await start({ '1': source(), '2': save('1') }).result).toEqual({ status: 'succeeded' });
    });

    it('settles a run that is aborted as soon as it is asked for', async () => {
      const run = start(target.endless);
      run.abort();
      expect(await run.result).toEqual({ status: 'interrupted' });
      const reported = run.events.length;
      expect(await start({ '1': source(), '2': save('1') }).result).toEqual({ status: 'succeeded' });
      expect(run.events).toHaveLength(reported);
    });

    it('runs one workflow at a time: another is put off or declined, and does not disturb', async () => {
      const first = start({ '1': source(), '2': save('1') });
      const second = start({ '1': source(), '2': save('1') });
      let hasFirstSettled = false;
      const secondBegan = second.seen('started').then(() => hasFirstSettled);
      expect(await first.result).toEqual({ status: 'succeeded' });
      hasFirstSettled = true;
      const { status } = await second.result;
      expect(['succeeded', 'lost']).toContain(status);
      if (status === 'succeeded') expect(await secondBegan).toBe(true);
      else expect(second.events).toEqual([]);
    });

    it('hands over what is printed in the order of writing, in pieces of a bounded length', async () => {
      const { graph, lines } = target.talkative;
      const run = start(graph);
      expect(await run.result).toEqual({ status: 'succeeded' });
      const log = logOf(run);
      const places = lines.map((line) => log.search(line));
      expect(places).not.toContain(-1);
      expect(places).toEqual([...places].sort((a, b) => a - b));
      for (const event of run.events)
        if (event.type === 'log') expect(event.text.length).toBeLessThanOrEqual(MAX_LOG_EVENT_CHARS);
    });

    it('settles the run at hand when it is reset, and runs again afterwards', async () => {
      const run = start(target.endless);
      await run.seen('node_started');
      await target.engine.reset();
      expect((await run.result).status).toBe('lost');
      const reported = run.events.length;
      expect(await target.engine.health()).toMatchObject({ ready: true });
      expect(await start({ '1': source(), '2': save('1') }).result).toEqual({ status: 'succeeded' });
      expect(run.events).toHaveLength(reported);
    });
  });
}

type Places = [Place, Place, Place, Place];
type Place = ReturnType<typeof placesOf>;

function links(first: string, second: string): Record<string, unknown> {
  return { image1: [first, 0], image2: [second, 0] };
}

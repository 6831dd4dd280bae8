import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseWorkflow, type WorkflowGraph } from '@millrace/workflow';
import {
  isText,
  type Engine,
  type EngineEvent,
  type EngineOutput,
  type EngineResult,
  type EngineWork,
} from '../src/engine';

export type Graph = Record<string, { class_type: string; inputs: Record<string, unknown> }>;

const scratch = mkdtempSync(join(tmpdir(), 'engine-test-'));

afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** An empty folder, removed when the tests of the file are over. */
export function scratchDir(): string {
  return mkdtempSync(join(scratch, 'dir-'));
}

/** One run, while it goes on and afterwards. */
export interface RunUnderTest {
  runId: string;
  outputDir: string;
  events: EngineEvent[];
  result: Promise<EngineResult>;
  abort(): void;
  /** Resolves with the first event, past or to come, that matches. */
  seen<T extends EngineEvent['type']>(type: T, matches?: (event: EventOf<T>) => boolean): Promise<EventOf<T>>;
}

export type EventOf<T extends EngineEvent['type']> = Extract<EngineEvent, { type: T }>;

/** What a test sees of a run besides its end. */
export interface Watch {
  /** Called with every event as the engine reports it. */
  observe?: (event: EngineEvent) => void;
  /** Called with the graph that the engine is given. */
  graph?: (graph: WorkflowGraph) => void;
  /** Aborts the run as well. */
  signal?: AbortSignal;
}

/** Starts a run of a graph; what is not given is new to every run. */
export function startRun(
  engine: Engine,
  graph: Graph | string,
  work: Partial<EngineWork> = {},
  watch: Watch = {},
): RunUnderTest {
  const runId = work.runId ?? randomUUID();
  const outputDir = work.outputDir ?? join(scratchDir(), 'outputs');
  const events: EngineEvent[] = [];
  const waiters = new Set<(event: EngineEvent) => void>();
  const abort = new AbortController();
  const onEvent = (event: EngineEvent): void => {
    events.push(event);
    for (const notify of waiters) notify(event);
    watch.observe?.(event);
  };
  const parsed = parseWorkflow(typeof graph === 'string' ? graph : JSON.stringify(graph));
  watch.graph?.(parsed);
  const signal = watch.signal === undefined ? abort.signal : AbortSignal.any([abort.signal, watch.signal]);
  const full = {
    cacheScope: randomUUID(),
    inputs: [],
    maxOutputs: 1_000,
    extraData: {},
    ...work,
    runId,
    outputDir,
    graph: parsed,
  };
  const result = engine.run(full, { signal, onEvent });
  return {
    runId,
    outputDir,
    events,
    result,
    abort: () => abort.abort(),
    seen: (type, matches) => seen(events, waiters, type, matches),
  };
}

function seen<T extends EngineEvent['type']>(
  events: EngineEvent[],
  waiters: Set<(event: EngineEvent) => void>,
  type: T,
  matches: (event: EventOf<T>) => boolean = () => true,
): Promise<EventOf<T>> {
  const wanted = (event: EngineEvent): event is EventOf<T> => event.type === type && matches(event as EventOf<T>);
  const past = events.find(wanted);
  if (past) return Promise.resolve(past);
  return new Promise((resolve) => {
    const notify = (event: EngineEvent): void => {
      if (!wanted(event)) return;
      waiters.delete(notify);
      resolve(event);
    };
    waiters.add(notify);
  });
}

/** The bytes of an output that is no text. @throws where it is one. */
export function bytesOf(output: EngineOutput | undefined): Buffer {
  if (output === undefined || isText(output)) throw new Error('The output has no bytes.');
  return output.kind === 'bytes' ? output.bytes : readFileSync(output.path);
}

/** The text of an output; null where it is none. */
export function textOf(output: EngineOutput): string | null {
  if (output.kind === 'text') return output.text;
  return output.kind === 'text_file' ? readFileSync(output.path, 'utf8') : null;
}

export function outputsOf({ events }: RunUnderTest): EngineOutput[] {
  return events.flatMap((event) => (event.type === 'output' ? [event.output] : []));
}

export function logOf({ events }: RunUnderTest): string {
  return events.map((event) => (event.type === 'log' ? event.text : '')).join('');
}

/** Why a run was lost. */
export async function lossOf({ result }: RunUnderTest): Promise<string> {
  const outcome = await result;
  if (outcome.status !== 'lost') throw new Error(`The run is ${outcome.status}, not lost.`);
  return outcome.reason;
}

/**
 * Milliseconds from an abort to the end of the run, the quickest of up to twenty tries: the first within the bound ends the
 * search, because a busy machine may hold up one try and not all. Each is aborted when the node named (any, if none) has begun.
 */
export async function quickestStopMs(begin: () => RunUnderTest, boundMs: number, nodeId?: string): Promise<number> {
  let quickest = Infinity;
  for (let attempt = 1; attempt <= 20 && quickest >= boundMs; attempt += 1) {
    const run = begin();
    await Promise.race([
      run.result,
      run.seen('node_started', (event) => nodeId === undefined || event.nodeId === nodeId),
    ]);
    const abortedAt = performance.now();
    run.abort();
    const result = await run.result;
    if (result.status !== 'interrupted')
      throw new Error(`The run was over before it was aborted: ${JSON.stringify(result)}`);
    quickest = Math.min(quickest, performance.now() - abortedAt);
  }
  return quickest;
}

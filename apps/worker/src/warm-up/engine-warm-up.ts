import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { NodeCatalogue } from '@millrace/contracts';
import type { WarmUp } from '@millrace/deployments';
import type { Engine, EngineResult } from '@millrace/engines';
import type { Logger } from '@millrace/platform';
import { parseWorkflow, type WorkflowGraph } from '@millrace/workflow';
import type { WarmUpTimes } from '../engines';
import { ModelStaging, type EngineModels } from '../attempt';

/** What an engine is warmed up with. */
export interface WarmUpParts {
  /** The graph of the pool's deployment, as it is now; null where it has none. */
  warmUp: () => Promise<WarmUp | null>;
  catalogue: () => NodeCatalogue;
  /** Where an engine finds models of the library; null for one that is shown none. */
  models: (engine: Engine) => EngineModels | null;
  /** The folder for what the graph makes: nobody keeps it. */
  folder: string;
  /** How long one run may take, its models included. */
  limitMs: number;
  logger: Logger;
}

/** Why an engine could not be warmed up: a part of a sentence, for the owner of the deployment. */
export class WarmUpFailed extends Error {
  override readonly name = 'WarmUpFailed';
}

const NOTHING_TO_DO: WarmUpTimes = { modelsMs: null, warmUpMs: null };
/** Beyond the time of a run, for its engine to end it. */
const END_MS = 10_000;
/** Results of this scope are no account's: an engine shares loaded models among scopes, and nothing else. */
const SCOPE = 'warm-up';

/**
 * Runs the graph with which a deployment warms its workers up. It is no job: it is billed to nobody, nothing of it is kept, and no
 * job waits on an engine that has not done it.
 */
export class EngineWarmUp {
  /** Of each engine the last that began, until it has ended: it may outlast its time, and takes its models from the engine at its end. */
  private readonly latest = new WeakMap<Engine, Promise<unknown>>();

  constructor(private readonly parts: WarmUpParts) {}

  /** @throws WarmUpFailed when the graph does not succeed in time; what else is wrong as it is. */
  async run(engine: Engine): Promise<WarmUpTimes> {
    const warmUp = await this.parts.warmUp();
    if (warmUp === null) return NOTHING_TO_DO;
    const { limitMs, logger } = this.parts;
    const over = AbortSignal.timeout(limitMs);
    const timer = new AbortController();
    const late = new Promise<never>((_, reject) => {
      const give = setTimeout(() => {
        // It did not end the run when it was asked to: the next one would wait for it.
        void engine.reset().catch((error: unknown) => logger.error({ err: error }, 'the engine could not be replaced'));
        reject(new WarmUpFailed(tooLong(limitMs)));
      }, limitMs + END_MS);
      timer.signal.addEventListener('abort', () => clearTimeout(give));
    });
    try {
      const times = await Promise.race([this.runNext(engine, warmUp, over), late]);
      logger.info(times, 'the engine is warmed up');
      return times;
    } catch (error) {
      throw over.aborted && !(error instanceof WarmUpFailed) ? new WarmUpFailed(tooLong(limitMs)) : error;
    } finally {
      timer.abort();
    }
  }

  /** Run it once the one before has ended, within its own time. */
  private runNext(engine: Engine, warmUp: WarmUp, signal: AbortSignal): Promise<WarmUpTimes> {
    const before = this.latest.get(engine) ?? Promise.resolve();
    const own = before.then(() => {
      signal.throwIfAborted();
      return this.runWithin(engine, warmUp, signal);
    });
    this.latest.set(
      engine,
      own.catch(() => undefined),
    );
    return own;
  }

  private async runWithin(engine: Engine, { workflow, accountId }: WarmUp, signal: AbortSignal): Promise<WarmUpTimes> {
    const { catalogue, folder, limitMs, logger, models } = this.parts;
    const runId = randomUUID();
    const own = join(folder, `warm-up.${runId}`);
    const outputDir = join(own, 'out');
    const engineModels = models(engine);
    const staging = new ModelStaging(engineModels, { accountId }, logger);
    const graph = parseWorkflow(workflow);
    const startedMs = performance.now();
    try {
      await mkdir(outputDir, { recursive: true });
      const lent = await stage(staging, graph, catalogue(), signal);
      const stagedMs = performance.now();
      const asked = { runId, cacheScope: SCOPE, graph, inputs: [], models: lent };
      const work = { ...asked, outputDir, maxOutputs: 0, extraData: {} };
      const result = await engine.run(work, { signal, onEvent: () => undefined });
      if (signal.aborted) throw new WarmUpFailed(tooLong(limitMs));
      assertDone(result);
      return {
        modelsMs: engineModels === null ? null : Math.round(stagedMs - startedMs),
        warmUpMs: Math.round(performance.now() - stagedMs),
      };
    } finally {
      await staging.end();
      await rm(own, { recursive: true, force: true }).catch((error: unknown) =>
        logger.warn({ err: error }, 'the files of a warm-up could not be removed'),
      );
    }
  }
}

async function stage(
  staging: ModelStaging,
  graph: WorkflowGraph,
  catalogue: NodeCatalogue,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  try {
    return await staging.stage(graph, catalogue, signal, () => undefined);
  } catch (error) {
    throw signal.aborted ? error : new WarmUpFailed(`its models: ${(error as Error).message}`);
  }
}

/** @throws WarmUpFailed with what the engine says. */
function assertDone(result: EngineResult): void {
  if (result.status === 'succeeded') return;
  if (result.status === 'interrupted') throw new WarmUpFailed('it was interrupted');
  if (result.status !== 'failed') throw new WarmUpFailed(result.reason);
  const { message, nodeId } = result.failure;
  throw new WarmUpFailed(nodeId === null ? message : `node ${nodeId}: ${message}`);
}

function tooLong(limitMs: number): string {
  return `it took longer than ${Math.round(limitMs / 1_000)} s`;
}

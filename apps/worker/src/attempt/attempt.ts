import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Assets } from '@millrace/assets';
import type { NodeCatalogue, Progress } from '@millrace/contracts';
import type { EngineFailure, EngineResult } from '@millrace/engines';
import {
  resubmitAdvice,
  type AttemptResult,
  type ClaimedAttempt,
  type JobExecution,
  type JobFailure,
  type ReportedEnding,
} from '@millrace/jobs';
import { backoffMs, inSpan, type Logger, type Metrics } from '@millrace/platform';
import { parseWorkflow, planProgress, type WorkflowGraph } from '@millrace/workflow';
import type { EngineSlot } from '../engines/engine-slot';
import { InputUnavailable, stageInputs, type StagedInputs } from './input-staging';
import { LeaseKeeper } from './lease-keeper';
import { OutputPipeline } from './output-pipeline';
import { RunObserver } from './run-observer';

/** How long a worker goes on trying to tell PostgreSQL how an attempt ended; after it the attempt counts as lost. */
const TELL_FOR_MS = 60_000;
const TELL_BASE_MS = 100;
const TELL_CAP_MS = 2_000;
/** What a run prints is kept this often while it goes on: of a lost worker's run, all but so much can be read. */
const KEEP_LOG_EVERY_MS = 5_000;

export interface AttemptParts {
  jobs: Pick<JobExecution, 'lifecycle' | 'outputs' | 'events' | 'secrets'>;
  assets: Pick<Assets, 'assets' | 'content'>;
  /** What the engine can run; asked anew for each attempt, because it may change. */
  catalogue: () => NodeCatalogue;
  logger: Logger;
  metrics: Metrics;
  workDir: string;
  leaseSeconds: number;
  logTailBytes: number;
}

/** What an attempt comes to, for this worker. */
type AttemptEnd =
  | { kind: 'finished'; result: AttemptResult }
  | { kind: 'handed_back' }
  | { kind: 'engine_lost'; reason: string }
  | { kind: 'lease_lost' };

/**
 * One claimed attempt under way: its inputs are staged, its engine runs, its outputs are stored, and PostgreSQL is told.
 * Whatever happens to the worker meanwhile, PostgreSQL decides what it meant.
 */
export class Attempt {
  private readonly lease: LeaseKeeper;
  private readonly observer: RunObserver;
  private readonly outputs: OutputPipeline;
  private readonly folder: string;
  /** As submitted: read once, for everything that needs it. */
  private readonly graph: WorkflowGraph;
  /** Aborts when the attempt is to end, for whatever reason. */
  private readonly over: AbortSignal;
  private readonly log: Logger;
  private keptLength = 0;

  /** @param draining aborts when the worker must go: the attempt is then given back. */
  constructor(
    private readonly parts: AttemptParts,
    private readonly claimed: ClaimedAttempt,
    private readonly slot: EngineSlot,
    draining: AbortSignal,
  ) {
    const { jobs } = parts;
    this.log = parts.logger.child({ job: claimed.jobId, attempt: claimed.attempt });
    this.folder = join(parts.workDir, `${claimed.jobId}.${claimed.attempt}`);
    this.graph = parseWorkflow(claimed.workflow);
    const plan = planProgress(this.graph, parts.catalogue());
    const classOf = (nodeId: string): string => plan.nodes.get(nodeId)?.classType ?? 'output';
    const run = (): { progress: Progress; engineMs: number } => ({
      progress: this.observer.snapshot(),
      engineMs: this.observer.engineMs(),
    });
    this.lease = new LeaseKeeper(jobs.lifecycle, claimed, parts.leaseSeconds * 1000, run, this.log);
    const gone = this.lease.signal;
    this.outputs = new OutputPipeline(claimed, parts.assets.assets, jobs.outputs, classOf, gone, this.log);
    this.observer = new RunObserver(claimed, plan, jobs.events, parts.logTailBytes, (output) =>
      this.outputs.add(output),
    );
    this.over = AbortSignal.any([this.lease.signal, draining]);
  }

  /** Look now whether the job is to be canceled; resolves when that is known. Never rejects. */
  checkForCancel(): Promise<void> {
    return this.lease.beat();
  }

  /**
   * Run to the end, for this worker. Never rejects.
   *
   * @param onSettled called when the engine has settled and another attempt can have it, though this one has not ended; not
   * called where the attempt never came to the engine.
   */
  async run(onSettled: () => void): Promise<void> {
    const keeping = setInterval(() => void this.keepLog(), KEEP_LOG_EVERY_MS);
    try {
      const end = await this.compute(onSettled).catch((error: unknown) => this.brokenOff(error));
      clearInterval(keeping);
      this.observer.close();
      if (end.kind !== 'finished') await this.keepLog();
      await this.tell(end);
    } catch (error) {
      this.log.error(
        { err: error },
        'the end of an attempt could not be told; it is tried again when its lease has run out',
      );
    } finally {
      clearInterval(keeping);
      this.observer.close();
      await this.lease.close();
      await rm(this.folder, { recursive: true, force: true }).catch((error: unknown) =>
        this.log.warn({ err: error }, 'the files of an attempt could not be removed'),
      );
    }
  }

  /** Keep what the run has printed and was not kept yet. Never rejects. */
  private async keepLog(): Promise<void> {
    const { logLength } = this.observer;
    if (!this.claimed.keepsLogs || logLength === this.keptLength) return;
    try {
      await this.parts.jobs.lifecycle.keepLog(this.claimed, this.observer.readLog());
      this.keptLength = logLength;
    } catch (error) {
      this.log.warn({ err: error }, 'what the run printed could not be kept yet');
    }
  }

  private async compute(onSettled: () => void): Promise<AttemptEnd> {
    const { secrets } = this.parts.jobs;
    await mkdir(join(this.folder, 'out'), { recursive: true });
    let staged: StagedInputs;
    try {
      const { accountId } = this.claimed;
      staged = await stageInputs(this.parts.assets.content, accountId, this.graph, join(this.folder, 'in'), this.over);
    } catch (error) {
      if (this.over.aborted) return this.conclude({ status: 'interrupted' }, 0);
      if (error instanceof InputUnavailable) return this.ended('input_not_staged', error.failure, 0);
      throw error;
    }
    const extraData = this.claimed.hasSecrets ? await secrets.get(this.claimed.jobId) : {};
    if (extraData === null) return this.ended('credentials_lost', credentialsLost, 0);
    const work = {
      runId: randomUUID(),
      cacheScope: this.claimed.accountId,
      ...staged,
      outputDir: join(this.folder, 'out'),
      extraData,
    };
    const { kind } = this.slot.engine;
    const result = await inSpan('engine.run', { attributes: { 'millrace.engine': kind } }, () =>
      this.slot.run(work, { signal: this.over, onEvent: this.observer.hear }),
    );
    onSettled();
    const engineMs = this.observer.engineMs();
    this.parts.metrics.engineSeconds.inc({ pool: this.claimed.poolId }, engineMs / 1000);
    return this.conclude(result, engineMs);
  }

  /** Outputs that landed before a failure or a cancel are kept. */
  private async conclude(result: EngineResult, engineMs: number): Promise<AttemptEnd> {
    const outputs = await this.outputs.settle();
    if (outputs.status === 'lease_lost' || this.lease.end === 'lost') return { kind: 'lease_lost' };
    if (result.status === 'lost') return { kind: 'engine_lost', reason: result.reason };
    if (result.status === 'interrupted') {
      if (this.lease.end === 'exhausted') return this.ended('credits_exhausted', creditsExhausted, engineMs);
      if (this.lease.end === 'canceled') return this.ended('canceled_while_running', null, engineMs);
      return { kind: 'handed_back' };
    }
    if (result.status === 'failed') {
      this.observer.failedAt(result.failure.nodeId);
      return this.ended(ENDING_OF_FAILURE[result.failure.code], failureOf(result.failure), engineMs);
    }
    if (outputs.status === 'failed') {
      const message = `An output could not be stored: ${outputs.reason}. ${resubmitAdvice('output_not_stored')}`;
      return this.ended('output_not_stored', { code: 'output_storage_error', message }, engineMs);
    }
    this.observer.succeeded();
    return this.ended('succeeded', null, engineMs);
  }

  /** What no step foresaw is this worker's doing: another may fare better, and the attempts are bounded. */
  private brokenOff(error: unknown): AttemptEnd {
    this.log.error({ err: error }, 'an attempt broke off');
    return this.lease.end === 'lost' ? { kind: 'lease_lost' } : { kind: 'engine_lost', reason: 'its worker failed' };
  }

  private ended(ending: ReportedEnding, failure: JobFailure | null, engineMs: number): AttemptEnd {
    const result: AttemptResult = {
      ending,
      failure,
      engineMs,
      progress: this.observer.snapshot(),
      nodes: this.observer.timings(),
      log: this.claimed.keepsLogs ? this.observer.readLog() : null,
    };
    return { kind: 'finished', result };
  }

  /** Tell PostgreSQL, for as long as it takes it to come back, within reason. The fence makes telling twice harmless. */
  private async tell(end: AttemptEnd): Promise<void> {
    const { lifecycle } = this.parts.jobs;
    const until = performance.now() + TELL_FOR_MS;
    for (let attempt = 0; ; attempt += 1) {
      try {
        if (end.kind === 'finished') await lifecycle.finish(this.claimed, end.result);
        else if (end.kind === 'handed_back') await lifecycle.handBack(this.claimed);
        else if (end.kind === 'engine_lost') await lifecycle.giveUp(this.claimed, end.reason);
        this.log.info({ end: end.kind === 'finished' ? end.result.ending : end.kind }, 'an attempt is over');
        return;
      } catch (error) {
        if (performance.now() > until) throw error;
        this.log.warn({ err: error }, 'the end of an attempt could not be told yet');
        await new Promise((resolve) => setTimeout(resolve, backoffMs(attempt, TELL_BASE_MS, TELL_CAP_MS)));
      }
    }
  }
}

/** The end of an attempt whose engine reports a failure, by its code. */
const ENDING_OF_FAILURE: Record<EngineFailure['code'], ReportedEnding> = {
  node_execution_error: 'node_failed',
  engine_error: 'engine_failed',
  input_unavailable: 'input_rejected',
};

const credentialsLost: JobFailure = {
  code: 'credential_unavailable',
  message: 'The credentials sent with this job were lost before it started. Submit it again with them.',
};

const creditsExhausted: JobFailure = {
  code: 'credits_exhausted',
  message: 'The run used up the credits of its account and was stopped. Add credits and submit the job again.',
};

function failureOf({ code, message, nodeId, classType, traceback }: EngineFailure): JobFailure {
  return { code, message, node_id: nodeId, class_type: classType, traceback };
}

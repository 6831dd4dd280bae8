import { randomUUID } from 'node:crypto';
import type { AssetService } from '@millrace/assets';
import type { NodeCatalogue } from '@millrace/contracts';
import type { Engine, EngineResult } from '@millrace/engines';
import type { ClaimedAttempt, JobEvents, JobFailure, Lifecycle, OutputRecorder } from '@millrace/jobs';
import { inSpan, joinSignals, type Logger, type Metrics } from '@millrace/platform';
import { parseWorkflow, planProgress, type WorkflowGraph } from '@millrace/workflow';
import type { EngineSlot } from '../engines';
import type { WorkFolder } from '../work-files';
import { endOf, finished, type AttemptEnd } from './attempt-end';
import { AttemptFiles } from './attempt-files';
import { InputNotStaged, stageInputs, type InputSource, type StagedInputs } from './input-staging';
import { LeaseKeeper, type LeaseRecords } from './lease-keeper';
import { LogSaver } from './log-saver';
import { ModelStaging, NoRoomForModels, noRoomFailure, type EngineModels } from './model-staging';
import { OutOfReach } from './out-of-reach';
import { OutputPipeline, type OutputsEnd } from './output-pipeline';
import { reportEnd, type EndReport } from './report-end';
import { RunObserver } from './run-observer';

type SecretOwner = Pick<ClaimedAttempt, 'accountId' | 'jobId'>;

export interface AttemptParts {
  /** Where the attempt is recorded: in PostgreSQL and Redis, or by the gateway. */
  jobs: {
    lifecycle: LeaseRecords & Pick<Lifecycle, 'finish' | 'handBack' | 'lackRoom' | 'giveUp' | 'keepLog'>;
    outputs: Pick<OutputRecorder, 'record' | 'finish'>;
    events: Pick<JobEvents, 'progressed' | 'previewed'>;
    /** `signal`: aborts when nobody needs them any more. */
    secrets: { get: (of: SecretOwner, signal: AbortSignal) => Promise<Record<string, string> | null> };
  };
  /** Where its bytes lie. */
  assets: { assets: Pick<AssetService, 'storeOutput'>; content: InputSource };
  /** Where an engine finds models of the library; null, and without this, for one that is shown none. */
  models?: (engine: Engine) => EngineModels | null;
  /** What the engine can run; asked again for each attempt, because it may change. */
  catalogue: () => NodeCatalogue;
  logger: Logger;
  metrics: Metrics;
  workFolder: Pick<WorkFolder, 'path' | 'prove' | 'suspect'>;
  leaseSeconds: number;
  maxOutputsPerJob: number;
  logTailBytes: number;
}

/**
 * Up to this attempt of a job, one that broke off before its engine was given it costs the job none. Bounded, because what breaks may
 * be the job's doing: inputs that fill every disk, say.
 */
export const LAST_FREE_ATTEMPT = 10;

const CREDENTIALS_LOST: JobFailure = {
  code: 'credential_unavailable',
  message: 'The credentials sent with this job were lost before it started. Submit it again with them.',
};

/** What an attempt says of its engine. Neither is called where it never came to the engine. */
export interface EngineUse {
  /** The engine computes no more and will soon settle; not every engine says so. */
  onComputed?: () => void;
  /** The engine has settled and another attempt can have it, though this one has not ended. */
  onSettled?: () => void;
}

/**
 * One claimed attempt under way: its inputs are staged, its engine runs, its outputs are stored, and its end is recorded.
 * PostgreSQL decides what that means, no matter what happens to the worker meanwhile.
 */
export class Attempt {
  private readonly lease: LeaseKeeper;
  private readonly observer: RunObserver;
  private readonly outputs: OutputPipeline;
  private readonly log: LogSaver;
  private readonly models: ModelStaging;
  private readonly files: AttemptFiles;
  /** As submitted: parsed once, for everything that needs it. */
  private readonly graph: WorkflowGraph;
  /** Aborts, with the error as its reason, when this worker can follow the run no longer. */
  private readonly fault = new AbortController();
  /** Aborts when the attempt is to end, for any reason. */
  private readonly over: AbortSignal;
  /** Lets go of what it follows, some of which the worker has for longer. */
  private readonly release: () => void;
  private readonly logger: Logger;
  /** Whether the engine was given the run: what breaks before is this worker's fault alone. */
  private hasBegun = false;
  /** Gives the engine to the next attempt. */
  private leaveEngine = (): void => undefined;
  private onComputed: EngineUse['onComputed'];

  /** @param draining aborts when the worker must go: the attempt is then given back. */
  constructor(
    private readonly parts: AttemptParts,
    private readonly claimed: ClaimedAttempt,
    private readonly slot: EngineSlot,
    private readonly draining: AbortSignal,
  ) {
    const { assets, jobs, logTailBytes, maxOutputsPerJob } = parts;
    const { leaseSeconds = parts.leaseSeconds } = claimed;
    this.logger = parts.logger.child({ job: claimed.jobId, attempt: claimed.attempt });
    this.files = new AttemptFiles(parts.workFolder.path, claimed, this.logger);
    this.graph = parseWorkflow(claimed.workflow);
    const plan = planProgress(this.graph, parts.catalogue());
    this.observer = new RunObserver(claimed, plan, jobs.events, logTailBytes, {
      output: (output) => this.outputs.add(output),
      computed: () => this.onComputed?.(),
      fault: (error) => this.fault.abort(error),
    });
    this.lease = new LeaseKeeper(jobs.lifecycle, claimed, leaseSeconds * 1000, this.observer, this.logger);
    const classOf = (nodeId: string): string => plan.nodes.get(nodeId)?.classType ?? 'output';
    // Nothing else ends it: outputs that landed before a cancel are kept.
    const storeOutput: AssetService['storeOutput'] = (accountId, source, options) =>
      assets.assets.storeOutput(accountId, source, { ...options, signal: this.lease.lost });
    this.outputs = new OutputPipeline(
      claimed,
      { storeOutput },
      jobs.outputs,
      classOf,
      this.lease,
      maxOutputsPerJob,
      this.logger,
    );
    this.models = new ModelStaging(parts.models?.(slot.engine) ?? null, claimed, this.logger);
    this.log = new LogSaver(jobs.lifecycle, claimed, this.observer, this.logger);
    const over = joinSignals(this.lease.signal, draining, this.outputs.refused, this.fault.signal);
    this.over = over.signal;
    this.release = over.release;
  }

  /** Look now whether the job is to be canceled; resolves when that is known. Never rejects. */
  checkForCancel(): Promise<void> {
    return this.lease.beat();
  }

  /** Run to the end, for this worker. Never rejects. */
  async run({ onComputed, onSettled }: EngineUse = {}): Promise<void> {
    this.onComputed = onComputed;
    try {
      const end = await this.compute(onSettled).catch((error: unknown) => this.brokenOff(error));
      this.log.close();
      this.observer.close();
      if (!(await this.report(end))) await this.report(await this.endApart());
    } catch (error) {
      this.logger.error(
        { err: error },
        'the end of an attempt could not be recorded; its job is tried again when its lease has run out',
      );
    } finally {
      this.release();
      this.log.close();
      this.observer.close();
      await this.models.end();
      this.leaveEngine();
      await this.lease.close();
      await this.files.remove();
    }
  }

  /** @returns false where the last output cannot be recorded with the end. */
  private async report(end: AttemptEnd): Promise<boolean> {
    if (end.kind !== 'finished') await this.log.save();
    return reportEnd(this.parts.jobs, this.claimed, this.reportOf(end), this.logger);
  }

  private async compute(onSettled: EngineUse['onSettled']): Promise<AttemptEnd> {
    await this.parts.workFolder.prove();
    let staged: StagedInputs;
    let models: ReadonlyMap<string, string>;
    let extraData: Record<string, string> | null;
    try {
      staged = await this.stage();
      this.leaveEngine = await this.slot.enter(this.over);
      // The attempt before may have the engine still.
      this.over.throwIfAborted();
      if (this.slot.isSick) return this.leftToAnother('its engine was lost by the run before');
      models = await this.stageModels();
      extraData = await this.credentials();
    } catch (error) {
      if (this.over.aborted) return this.conclude({ status: 'interrupted' });
      if (error instanceof InputNotStaged) return finished('input_not_staged', error.failure);
      if (error instanceof NoRoomForModels) return this.withoutRoom(error);
      if (error instanceof OutOfReach) return this.cutOff(error);
      throw error;
    }
    const { accountId, poolId } = this.claimed;
    const { maxOutputsPerJob: maxOutputs } = this.parts;
    if (extraData === null) return finished('credentials_lost', CREDENTIALS_LOST);
    // A charge never exceeds the hold: a run that ended before its first heartbeat would cost less than its time.
    if (this.claimed.isHoldShort) await this.lease.beat();
    if (this.slot.isSick && !this.over.aborted) {
      return this.leftToAnother('its engine restarted, or was away, before the run');
    }
    const outputDir = this.files.outputs;
    const work = { runId: randomUUID(), cacheScope: accountId, ...staged, models, outputDir, maxOutputs, extraData };
    this.hasBegun = true;
    this.files.mayHaveOutputs = true;
    const result = await inSpan('engine.run', { attributes: { 'millrace.engine': this.slot.engine.kind } }, () =>
      this.slot.run(work, { signal: this.over, onEvent: this.observer.onEvent }),
    );
    this.observer.engineSettled();
    this.files.mayHaveOutputs = result.status !== 'succeeded' || this.outputs.hasFiles;
    // Before another attempt can have the engine, which is shown models of its own.
    await this.models.end();
    this.leaveEngine();
    onSettled?.();
    this.parts.metrics.engineSeconds.inc({ pool: poolId }, this.observer.engineMs / 1000);
    this.fault.signal.throwIfAborted();
    if (result.status === 'disk_failed') await this.parts.workFolder.suspect();
    return this.conclude(result);
  }

  private stage(): Promise<StagedInputs> {
    const { content } = this.parts.assets;
    return stageInputs(content, this.claimed.accountId, this.graph, () => this.files.makeInputs(), this.over);
  }

  /** What was sent with the job; null where it is lost. */
  private async credentials(): Promise<Record<string, string> | null> {
    const { accountId, hasSecrets, jobId } = this.claimed;
    return hasSecrets ? this.parts.jobs.secrets.get({ accountId, jobId }, this.over) : {};
  }

  private stageModels(): Promise<ReadonlyMap<string, string>> {
    const onProgress = this.observer.staging.bind(this.observer);
    return this.models.stage(this.graph, this.parts.catalogue(), this.over, onProgress);
  }

  private cutOff(error: OutOfReach): AttemptEnd {
    this.logger.warn({ err: error }, 'the inputs of an attempt are out of reach');
    return this.leftToAnother('its worker does not reach its inputs');
  }

  /** This worker cannot begin it, which is no fault of the job. */
  private leftToAnother(reason: string): AttemptEnd {
    if (this.claimed.attempt <= LAST_FREE_ATTEMPT) return { kind: 'handed_back' };
    return { kind: 'given_up', loss: { by: 'worker', reason } };
  }

  private withoutRoom({ lack, message: reason }: NoRoomForModels): AttemptEnd {
    if (this.claimed.attempt <= LAST_FREE_ATTEMPT) return { kind: 'no_room', lack };
    return lack.isPassing
      ? { kind: 'given_up', loss: { by: 'worker', reason } }
      : finished('input_not_staged', noRoomFailure(lack));
  }

  private async conclude(run: EngineResult): Promise<AttemptEnd> {
    if (run.status === 'succeeded') this.outputs.complete();
    const end = this.endOf(run, await this.outputs.settle());
    if (end.kind === 'finished' && run.status === 'failed') this.observer.failedAt(run.failure.nodeId);
    if (end.kind === 'finished' && end.ending === 'succeeded') this.observer.succeeded();
    return end;
  }

  /** The end of a run that has succeeded, once what was to be recorded with it is recorded by itself. */
  private async endApart(): Promise<AttemptEnd> {
    return this.endOf({ status: 'succeeded' }, await this.outputs.recordUnrecorded());
  }

  private endOf(run: EngineResult, outputs: OutputsEnd): AttemptEnd {
    return endOf({ run, outputs, lease: this.lease.end, draining: this.draining.aborted });
  }

  /** What no step foresaw is this worker's doing: another may fare better, and the attempts are bounded. */
  private async brokenOff(error: unknown): Promise<AttemptEnd> {
    this.logger.error({ err: error }, 'an attempt broke off');
    // Before the attempt is given back: this worker must not be the next to get it.
    this.slot.distrust();
    await this.parts.workFolder.suspect();
    const { end } = this.lease;
    if (end === 'lost') return { kind: 'lease_lost' };
    const isFree = !this.hasBegun && end === null && this.claimed.attempt <= LAST_FREE_ATTEMPT;
    return isFree ? { kind: 'handed_back' } : { kind: 'given_up', loss: { by: 'worker', reason: 'its worker failed' } };
  }

  private reportOf(end: AttemptEnd): EndReport {
    const { engineMs, progress, timings: nodes } = this.observer;
    if (end.kind === 'given_up') return { kind: 'given_up', loss: { ...end.loss, engineMs } };
    if (end.kind !== 'finished') return end;
    const { ending, failure } = end;
    const log = this.claimed.keepsLogs ? this.observer.readLog() : null;
    const result = { ending, failure, engineMs, progress, nodes, log };
    return { kind: 'finished', result, last: ending === 'succeeded' ? this.outputs.unrecorded : null };
  }
}

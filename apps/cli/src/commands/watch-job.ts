import { isTerminal, type JobStatus } from '@millrace/contracts';
import type { Clients, Job, JobOutput } from '../client';
import {
  type Cancellation,
  type FileReport,
  type InterruptGuard,
  JobFollower,
  type JobReport,
  type ProgressView,
  summaryJson,
  summaryLines,
} from '../follow';
import { CliFailure, EXIT, type ExitCode, Interrupted, SaveFailure, ServiceFailure } from '../process';
import { failureLines } from '../terminal';
import type { CommandContext } from './command-context';

export interface WatchOptions {
  context: CommandContext;
  clients: Clients;
  view: ProgressView;
  guard: InterruptGuard;
  /** Where outputs are saved; null saves none. */
  outFolder: string | null;
  /** Outputs of the job may be in the folder already: those are not saved a second time. */
  savesRest?: boolean;
}

/** Watches a job to its end, saves its outputs, prints the summary. @returns the exit code of the outcome. */
export async function watchJob(job: Job, options: WatchOptions): Promise<ExitCode> {
  const { context, clients, view, guard } = options;
  let ended: Job | null = null;
  guard.running(job);
  try {
    ended = await new JobFollower(clients, context.host, job, view, guard.signal).follow();
    guard.ended();
    view.close();
    const report = await reportOf(ended, options);
    if (context.asJson) context.printer.json(summaryJson(report));
    else context.printer.lines(summaryLines(report, context.printer.paint));
    for (const failure of report.failures) context.printer.notes(...failureLines(failure, context.printer.paintNote));
    return outcomeOf(ended.status) || (report.failures[0]?.exitCode ?? EXIT.succeeded);
  } catch (error) {
    view.close();
    const failure = error instanceof Interrupted ? leftEarly(ended ?? job, options) : error;
    if (failure instanceof CliFailure) failure.facts.jobId = job.id;
    throw failure;
  }
}

/** The exit code that says how a job ended. */
function outcomeOf(status: JobStatus): ExitCode {
  if (status === 'failed' || status === 'canceled' || status === 'expired') return EXIT[status];
  return EXIT.succeeded;
}

/** What there is to say at Ctrl-C of a job that runs, or that has ended. */
function leftEarly(job: Job, { guard, outFolder }: WatchOptions): Interrupted {
  return isTerminal(job.status) ? leftReport(job, outFolder) : left(job, guard.canceling);
}

function left({ id }: Job, canceling: Cancellation): Interrupted {
  const watch = `Watch it again: millrace watch ${id}`;
  const cancel = `Cancel it: millrace jobs cancel ${id}`;
  switch (canceling) {
    case 'none':
      return new Interrupted(`Left job ${id}; it continues.`, watch);
    case 'requested':
      return new Interrupted(`Left job ${id}; its cancellation was requested.`, watch);
    case 'unknown':
      return new Interrupted(`Left job ${id}; whether its cancellation arrived is not known.`, cancel);
    case 'failed':
      return new Interrupted(`Left job ${id}; it could not be canceled.`, cancel);
  }
}

function leftReport({ id, status }: Job, outFolder: string | null): Interrupted {
  if (outFolder === null)
    return new Interrupted(`Left before the summary; the job is ${status}.`, `See it: millrace jobs get ${id}`);
  const cure = `Save the rest: millrace watch ${id} --out <folder>`;
  return new Interrupted(`Left before all outputs were saved; the job is ${status}.`, cure);
}

async function reportOf(job: Job, options: WatchOptions): Promise<JobReport> {
  const { context, clients, view, guard } = options;
  if (isTerminal(job.status)) view.nodes.end(job.status === 'expired' ? 'canceled' : job.status, context.host.nowMs());
  const nodes = await clients.jobs.nodes(job.id, guard.signal).catch((error: unknown) => {
    if (error instanceof CliFailure && !(error instanceof Interrupted)) return null;
    throw error;
  });
  const failures: CliFailure[] = [];
  const files: FileReport[] = [];
  for (const output of job.outputs) {
    const saved = await save(job, output, options, files, failures);
    files.push({ output, path: saved?.path ?? null, hash: saved?.hash ?? output.hash });
  }
  // The service may have no times of this job; then the observed ones are better than none.
  const isReported = nodes !== null && nodes.length > 0;
  return { job, nodes: isReported ? nodes : view.nodes.times(), approximate: !isReported, files, failures };
}

/**
 * An output that cannot be saved does not keep the others from being saved.
 *
 * @param files of the outputs before it.
 */
async function save(
  job: Job,
  output: JobOutput,
  { clients: { downloads }, guard: { signal }, outFolder, savesRest = false }: WatchOptions,
  files: readonly FileReport[],
  failures: CliFailure[],
): Promise<{ path: string; hash: string } | null> {
  if (outFolder === null) return null;
  try {
    const others = new Set(files.flatMap(({ path }) => path ?? []));
    const found = savesRest ? await downloads.findIn(outFolder, output, others, signal) : null;
    return found ?? (await downloads.saveInto(outFolder, output, signal));
  } catch (error) {
    if (!(error instanceof CliFailure) || error instanceof Interrupted) throw error;
    if (error instanceof SaveFailure || error instanceof ServiceFailure) error.facts.cure = saveAgain(job, error);
    failures.push(error);
    return null;
  }
}

/** The job has run and was paid for: its outputs are fetched again without another run. */
function saveAgain({ id }: Job, { code }: CliFailure): string {
  const cure = `Save the outputs again, here or elsewhere: millrace watch ${id} --out <folder>`;
  return code === 'hash_mismatch' ? `${cure}. If that does not help, contact the operator of the service.` : cure;
}

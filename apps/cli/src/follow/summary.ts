import { isTerminal, type JobError } from '@millrace/contracts';
import type { Job, JobOutput, NodeTime, WaitingReason } from '../client';
import type { CliFailure } from '../process';
import {
  type Cell,
  credits,
  duration,
  failureJson,
  type Palette,
  plainBlock,
  plainLine,
  size,
  type Style,
  tableLines,
} from '../terminal';
import { statusMark } from './progress-frame';

/** An output of a job, and where it is on this machine; `path` is null where it was not saved. */
export interface FileReport {
  output: JobOutput;
  path: string | null;
  /** The hash of the saved bytes, computed here; the service's own where nothing was saved. */
  hash: string | null;
}

/** What is reported of a job. */
export interface JobReport {
  job: Job;
  nodes: readonly NodeTime[];
  /** True where the service reported no times and they were observed here. */
  approximate: boolean;
  files: FileReport[];
  /** Why outputs were not saved. */
  failures: CliFailure[];
  /** Why the job waits; absent where nobody has asked. */
  waiting?: WaitingReason | null;
}

/** Lines of a traceback that are shown; the whole is in `--json`. */
const TRACEBACK_LINES = 12;
const TIME_BAR = 24;
/** States of a node that ran to its end; any other state is printed. */
const DONE_STATES: ReadonlySet<string> = new Set(['succeeded', 'done', 'finished', 'completed', 'executed']);

/** Micro-credits that the job cost, or null on a surface without credits and before the settlement. */
export function chargedMicros(job: Job): number | null {
  return job.metrics.charged_micros ?? null;
}

/** The report for people. */
export function summaryLines(report: JobReport, paint: Palette): string[] {
  const { job } = report;
  return [
    '',
    ...tableLines(factRows(report, paint)),
    ...errorLines(job, paint),
    ...section(
      report.approximate ? 'Nodes (times observed by this client)' : 'Nodes',
      nodeLines(report.nodes, paint),
      paint,
    ),
    ...section('Files', fileLines(report.files, paint), paint),
    '',
  ];
}

/** The report for programs. */
export function summaryJson({ job, nodes, approximate, files, failures, waiting }: JobReport): Record<string, unknown> {
  return {
    job,
    nodes: nodes.map(({ nodeId, classType, state, ms }) => ({ node_id: nodeId, class_type: classType, state, ms })),
    node_times: approximate ? 'observed' : 'reported',
    charged_micros: chargedMicros(job),
    files: files.map(({ output, path, hash }) => ({
      node_id: output.node_id,
      name: output.name,
      path,
      type: output.type,
      content_type: output.content_type,
      size_bytes: output.size_bytes,
      hash,
    })),
    failures: failures.map((failure) => failureJson(failure).error),
    ...(waiting !== undefined && { waiting_reason: waiting }),
  };
}

function factRows({ job, waiting = null }: JobReport, paint: Palette): Cell[][] {
  const { queue_ms: queueMs, execution_ms: executionMs } = job.metrics;
  const charged = chargedMicros(job);
  const rows: Cell[][] = [
    fact('job', job.id, paint),
    [
      faint('status', paint),
      { text: job.status, style: (text) => `${statusMark(job.status, paint)} ${paint.strong(text)}` },
    ],
  ];
  if (job.reused_from !== undefined) {
    rows.push(fact('reused from', job.reused_from === null ? 'an earlier job' : `job ${job.reused_from}`, paint));
  }
  if (job.queue_position !== null) rows.push(fact('position', String(job.queue_position), paint));
  if (waiting !== null) rows.push(fact('waits', waiting.message, paint));
  if (!isTerminal(job.status) && job.progress)
    rows.push(fact('progress', `${Math.floor(job.progress.value * 100)}%`, paint));
  if (queueMs !== null) rows.push(fact('queued', duration(queueMs), paint));
  if (executionMs !== null) rows.push(fact('executed', duration(executionMs), paint));
  if (charged !== null) rows.push(fact('charged', `${credits(charged)} credits`, paint));
  for (const [key, value] of Object.entries(job.metadata)) rows.push(fact('label', `${key}=${value}`, paint));
  return rows;
}

function fact(name: string, value: string, paint: Palette): Cell[] {
  return [faint(name, paint), value];
}

function faint(text: string, paint: Palette): Cell {
  return { text, style: paint.faint };
}

function errorLines({ id, error, status, urls }: Job, paint: Palette): string[] {
  if (!error) return [];
  const where = error.node_id ? ` in node ${error.node_id}${error.class_type ? ` (${error.class_type})` : ''}` : '';
  const style = status === 'failed' ? paint.bad : paint.warn;
  return [
    '',
    `  ${style(plainLine(`${error.code}${where}`))}`,
    ...plainBlock(error.message)
      .split('\n')
      .map((line) => `  ${line}`),
    ...tracebackLines(error).map((line) => `  ${paint.faint(line)}`),
    ...(urls.logs ? [`  ${paint.faint(`Its log: millrace jobs logs ${id}`)}`] : []),
  ];
}

function tracebackLines({ traceback }: Pick<JobError, 'traceback'>): string[] {
  return traceback ? plainBlock(traceback).trimEnd().split('\n').slice(-TRACEBACK_LINES) : [];
}

/** Nodes with their times, and a bar that shows where the time went. */
function nodeLines(nodes: readonly NodeTime[], paint: Palette): string[] {
  const longestMs = Math.max(1, ...nodes.map(({ ms }) => ms ?? 0));
  return tableLines(
    nodes.map(({ nodeId, classType, state, ms }) => [
      { text: nodeId, align: 'right' },
      classType ?? '',
      { text: ms === null ? '' : duration(ms), align: 'right' },
      DONE_STATES.has(state)
        ? { text: '▬'.repeat(Math.round(((ms ?? 0) / longestMs) * TIME_BAR)), style: paint.accent }
        : { text: state, style: stateStyle(state, paint) },
    ]),
  );
}

function stateStyle(state: string, paint: Palette): Style {
  return state === 'failed' ? paint.bad : paint.faint;
}

/** One line for each file, and its hash in the next line, for copying. */
function fileLines(files: FileReport[], paint: Palette): string[] {
  const rows = tableLines(
    files.map(({ output, path }) => [
      { text: path ?? output.name, style: paint.strong },
      output.type,
      output.content_type,
      { text: size(output.size_bytes), align: 'right' },
    ]),
  );
  return files.flatMap(({ hash }, at) => [
    rows[at] ?? '',
    `    ${paint.faint(hash ? plainLine(hash) : 'hash not computed yet')}`,
  ]);
}

function section(title: string, lines: string[], paint: Palette): string[] {
  return lines.length > 0 ? ['', `  ${paint.accent(title)}`, ...lines] : [];
}

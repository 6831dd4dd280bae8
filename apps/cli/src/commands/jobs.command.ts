import { isTerminal, JOB_STATUSES, type JobStatus } from '@millrace/contracts';
import { Option, type Command } from 'commander';
import type { JobAttempt, JobItem } from '../client';
import { chargedMicros, statusMark, summaryJson, summaryLines } from '../follow';
import { age, type Cell, duration, escapeJson, type Palette, plainBlock, tableLines } from '../terminal';
import { parseLabels } from './values/assignment';
import type { Bind, CommandContext } from './command-context';
import { collect, parserOf, wholeNumber } from './values/typed-value';

interface ListFlags {
  status?: JobStatus;
  label?: string[];
  limit: number;
}

export function addJobs(program: Command, bind: Bind): void {
  const jobs = program.command('jobs').description('list, read and cancel jobs');
  jobs
    .command('ls')
    .description('the newest jobs')
    .addOption(new Option('--status <status>', 'only jobs in this state').choices(JOB_STATUSES))
    .option('-l, --label <key=value>', 'only jobs with this label', collect)
    .option('--limit <number>', 'how many at most', parserOf('--limit', wholeNumber(1, 999_999)), 20)
    .action(bind(list));
  jobs.command('get').description('everything about a job').argument('<job>').action(bind(get));
  jobs
    .command('attempts')
    .description('every attempt of a job, and how it ended')
    .argument('<job>')
    .action(bind(attempts));
  jobs.command('cancel').description('cancel a job').argument('<job>').action(bind(cancel));
  jobs.command('logs').description('the log of a job').argument('<job>').action(bind(logs));
  jobs
    .command('workflow')
    .description('the graph of a job, exactly as submitted')
    .argument('<job>')
    .action(bind(workflow));
}

async function list(context: CommandContext, flags: ListFlags): Promise<void> {
  const { jobs } = await context.clients();
  const labels = parseLabels(flags.label ?? []);
  const found = await jobs.list({ limit: flags.limit, status: flags.status, labels });
  const rows = found.map((job) => listRow(job, context.host.nowMs(), context.printer.paint));
  context.printTable({ jobs: found }, ['job', 'status', 'created', 'took', 'labels'], rows, 'No jobs.');
}

function listRow(job: JobItem, nowMs: number, paint: Palette): Cell[] {
  const took = job.metrics.execution_ms;
  const percent = job.progress && !isTerminal(job.status) ? ` ${Math.floor(job.progress.value * 100)}%` : '';
  const place = job.queue_position === null ? '' : ` position ${job.queue_position}`;
  const labels = Object.entries(job.metadata).map(([key, value]) => `${key}=${value}`);
  return [
    job.id,
    { text: `● ${job.status}${percent}${place}`, style: (text) => text.replace('●', statusMark(job.status, paint)) },
    age(job.created_at, nowMs),
    { text: took === null ? '' : duration(took), align: 'right' },
    labels.join(' '),
  ];
}

async function get(context: CommandContext, id: string): Promise<void> {
  const { jobs } = await context.clients();
  const job = await jobs.get(id);
  const nodes = (await jobs.nodes(id)) ?? [];
  const files = job.outputs.map((output) => ({ output, path: null, hash: output.hash }));
  const waiting = isTerminal(job.status) ? null : await jobs.waitingReason(job.id);
  const report = { job, nodes, approximate: false, files, failures: [], waiting };
  if (context.asJson) context.printer.json({ ...summaryJson(report), charged_micros: chargedMicros(job) });
  else context.printer.lines(summaryLines(report, context.printer.paint));
}

async function attempts(context: CommandContext, id: string): Promise<void> {
  const { jobs } = await context.clients();
  const found = await jobs.attempts(id);
  const { paint } = context.printer;
  context.print({ attempts: found }, () => {
    if (found.length === 0) return [`  ${paint.faint('No attempt has begun.')}`];
    return tableLines(found.map((attempt) => attemptRow(attempt, context.host.nowMs(), paint)));
  });
}

function attemptRow(attempt: JobAttempt, nowMs: number, paint: Palette): Cell[] {
  const { number, outcome, started_at, ended_at, message, error, charge } = attempt;
  const tookMs = ended_at === null ? null : Date.parse(ended_at) - Date.parse(started_at);
  return [
    { text: String(number), align: 'right' },
    outcome ?? 'running',
    age(started_at, nowMs),
    { text: tookMs === null ? '' : duration(tookMs), align: 'right' },
    { text: charge === null ? '' : charge.replace('_', ' '), style: paint.faint },
    error === null ? message : `${message} ${error.message}`,
  ];
}

async function cancel(context: CommandContext, id: string): Promise<void> {
  const { jobs } = await context.clients();
  const job = await jobs.cancelById(id);
  const { paint } = context.printer;
  context.print({ job }, () => [`${statusMark(job.status, paint)} ${job.status}`]);
  if (isTerminal(job.status) && job.status !== 'canceled')
    context.printer.notes('It had already ended; nothing was canceled.');
}

async function logs(context: CommandContext, id: string): Promise<void> {
  const { jobs } = await context.clients();
  const log = await jobs.logs(id);
  if (context.asJson) return context.printer.json({ logs: log });
  const { paintNote } = context.printer;
  if (log === null) return context.printer.notes(paintNote.faint('This job has no log.'));
  if (log.truncated) context.printer.notes(paintNote.faint('Only the end of a longer log was kept.'));
  if (log.text !== '') context.printer.lines([plainBlock(log.text).replace(/\n$/, '')]);
  if (!log.complete) context.printer.notes(paintNote.faint('The job has not ended yet; there may be more.'));
}

/** Byte for byte into a pipe or file; on a terminal with control characters escaped, which leaves its value the same. */
async function workflow(context: CommandContext, id: string): Promise<void> {
  const { jobs } = await context.clients();
  const text = await jobs.workflow(id);
  context.printer.raw(context.host.stdout.isTTY ? `${escapeJson(text)}\n` : text);
}

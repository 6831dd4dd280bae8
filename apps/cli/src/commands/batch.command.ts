import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { isUuid, type JobStatus } from '@millrace/contracts';
import { Option, type Command } from 'commander';
import { type ApiClient, recordOf, recordsOf, untilAnswered } from '../client';
import { knownOutcome } from '../follow';
import { EXIT, type ExitCode, UsageFailure } from '../process';
import { count, credits, escapeJson, plainLine, tableLines } from '../terminal';
import { watchBatch } from './batch-watch';
import type { Bind, CommandContext } from './command-context';
import { withGuard } from './interrupt-option';
import { cutOff, saveDownload, savedAs, type SaveFlags } from './save-download';
import { readInput } from './submit-graph';
import { idempotencyKey, parserOf, wholeNumber } from './values/typed-value';

interface RetryFlags {
  canceled?: boolean;
  expired?: boolean;
  each?: boolean;
  idempotencyKey?: string;
}

interface SubmitFlags {
  table?: string;
  combine?: string;
  each?: boolean;
  idempotencyKey?: string;
}

const BATCH = 'the id of the batch';
const AGAIN = 'The batch itself continues. Run the command again.';
/** Jobs that had ended may be gone before the others, by a rule of a label or an erasure: they are in no count, and no failure. */
const NOT_SUCCEEDED: readonly JobStatus[] = ['failed', 'canceled', 'expired'];
/** Between two looks at a batch that runs. */
const POLL_MS = 1_000;
/** Outputs are files like any other: the umask says who may read them. */
const AS_OUTPUTS = 0o666;
/** A large batch takes some seconds to be checked and recorded. */
const SUBMIT_WITHIN_MS = 180_000;

export function addBatch(program: Command, bind: Bind): void {
  const batch = program.command('batch').description('many jobs under one id');
  batch
    .command('submit')
    .description('submit a batch and print its id')
    .argument('<file>', 'the body of the request; with --table a graph in API format; - reads standard input')
    .option('--table <file>', 'lists of values by "node id.input name", as JSON')
    .addOption(new Option('--combine <how>', 'how the lists make jobs').choices(['zip', 'cross']))
    .option('--each', 'accept the jobs that can be, not all or none; with --table')
    .option('--idempotency-key <key>', 'sending it again with this key makes no second batch')
    .action(bind(submit));
  batch
    .command('ls')
    .description('the newest batches')
    .option('--limit <number>', 'how many at most', parserOf('--limit', wholeNumber(1, 100)), 20)
    .option('--cursor <cursor>', 'the next page')
    .action(bind(list));
  batch.command('show').description('how far a batch is').argument('<batch>', BATCH).action(bind(show));
  batch
    .command('wait')
    .description('wait until all jobs of a batch have ended; exit code 1 if any failed, was canceled or expired')
    .argument('<batch>', BATCH)
    .action(bind(wait));
  batch
    .command('watch')
    .description('print each job of a batch once it has ended, until all have; exit codes as those of wait')
    .argument('<batch>', BATCH)
    .action(bind(watch));
  batch.command('cancel').description('cancel its jobs').argument('<batch>', BATCH).action(bind(cancel));
  batch
    .command('retry')
    .description('try its failed jobs again, each in its place')
    .argument('<batch>', BATCH)
    .option('--canceled', 'those that were canceled, too')
    .option('--expired', 'those that did not start in time, too')
    .option('--each', 'accept the jobs that can be, not all or none')
    .option('--idempotency-key <key>', 'sending it again with this key changes nothing')
    .action(bind(retry));
  batch
    .command('results')
    .description('its jobs with their outputs, a line of JSON for each')
    .argument('<batch>', BATCH)
    .action(bind(results));
  savedAs(batch.command('download').description('the outputs of all its jobs as one ZIP'), 'batch-<id>.zip')
    .argument('<batch>', BATCH)
    .action(bind(download));
}

function at(api: ApiClient, id: string, rest = ''): URL {
  if (!isUuid(id)) {
    throw new UsageFailure(`${JSON.stringify(id)} is not a batch id.`, 'List your batches: millrace batch ls');
  }
  return api.api(`/batches/${id}${rest}`);
}

async function submit(context: CommandContext, file: string, flags: SubmitFlags): Promise<void> {
  const { api } = await context.clients();
  const key = idempotencyKey(flags.idempotencyKey ?? randomUUID());
  const body = await bodyOf(context, file, flags);
  const headers = { 'content-type': 'application/json', 'idempotency-key': key };
  const options = { method: 'POST', headers, body, isGuarded: true, tries: 3, headWithinMs: SUBMIT_WITHIN_MS } as const;
  const cure =
    'Whether a batch was made is not known. See `millrace batch ls`; ' +
    `the same command with --idempotency-key ${key} makes no second one.`;
  const request = (): Promise<unknown> => api.json(api.api('/batches'), options);
  const batch = await withGuard(context, (guard) => knownOutcome(guard, cure, request));
  const { id, job_count: jobs, refused_count: refused } = recordOf(batch);
  context.print(batch, () => [plainLine(String(id))]);
  const { printer } = context;
  const notAccepted = Number(refused) > 0 ? `, ${count(Number(refused), 'job')} refused` : '';
  printer.notes(printer.paintNote.faint(`${count(Number(jobs), 'job')} queued${notAccepted}`));
}

/** Texts are joined, not parsed and printed again: no digit is lost. */
async function bodyOf({ host }: CommandContext, file: string, flags: SubmitFlags): Promise<string> {
  const text = await readInput(file, host);
  if (flags.table === undefined) {
    if (flags.combine === undefined && flags.each !== true) return text;
    throw new UsageFailure('--combine and --each go with --table.', 'Without it, the file is the body of the request.');
  }
  const combine = flags.combine === undefined ? '' : `,"combine":${JSON.stringify(flags.combine)}`;
  const admission = flags.each === true ? ',"admission":"each"' : '';
  return `{"workflow":${text},"table":${await readInput(flags.table, host)}${combine}${admission}}`;
}

async function list(context: CommandContext, flags: { limit: number; cursor?: string }): Promise<void> {
  const { api } = await context.clients();
  const url = api.api('/batches');
  url.searchParams.set('limit', String(flags.limit));
  if (flags.cursor !== undefined) url.searchParams.set('cursor', flags.cursor);
  const answer = await api.json(url);
  if (context.asJson) return context.printer.json(answer);
  const shown = recordsOf(recordOf(answer).batches).map(
    ({ id, status, created_at: created, job_count: jobs, progress }) => ({
      id,
      status,
      created_at: created,
      jobs,
      progress: percent(progress),
    }),
  );
  context.printRecords({ batches: shown, next_cursor: recordOf(answer).next_cursor }, 'No batches.');
}

async function show(context: CommandContext, id: string): Promise<void> {
  const { api } = await context.clients();
  context.print(await api.json(at(api, id)), batchLines);
}

async function wait(context: CommandContext, id: string): Promise<ExitCode> {
  const { api } = await context.clients();
  for (;;) {
    const batch = recordOf(await untilAnswered(context.host, AGAIN, () => api.json(at(api, id), { tries: 1 })));
    if (batch.status === 'completed') return endedAs(context, batch);
    await context.host.wait(POLL_MS);
  }
}

async function watch(context: CommandContext, id: string): Promise<ExitCode> {
  const { api } = await context.clients();
  const { printer } = context;
  let shown = '';
  const noteProgress = (progress: unknown): void => {
    if (percent(progress) !== shown) printer.notes(printer.paintNote.faint(percent(progress)));
    shown = percent(progress);
  };
  const where = { events: at(api, id, '/events'), self: at(api, id), pauseMs: POLL_MS, cure: AGAIN };
  return endedAs(context, await watchBatch(context, api, { ...where, noteProgress }));
}

function endedAs(context: CommandContext, batch: Record<string, unknown>): ExitCode {
  context.print(batch, batchLines);
  const jobs = recordOf(batch.counts);
  return NOT_SUCCEEDED.some((status) => Number(jobs[status] ?? 0) > 0) ? EXIT.failed : EXIT.succeeded;
}

async function cancel(context: CommandContext, id: string): Promise<void> {
  const { api } = await context.clients();
  context.print(await api.json(at(api, id, '/cancel'), { method: 'POST', tries: 3 }), batchLines);
}

async function retry(context: CommandContext, id: string, flags: RetryFlags): Promise<void> {
  const { api } = await context.clients();
  const key = idempotencyKey(flags.idempotencyKey ?? randomUUID());
  const body = JSON.stringify({
    statuses: [
      'failed',
      ...(flags.canceled === true ? ['canceled'] : []),
      ...(flags.expired === true ? ['expired'] : []),
    ],
    admission: flags.each === true ? 'each' : 'all',
  });
  const headers = { 'content-type': 'application/json', 'idempotency-key': key };
  const options = { method: 'POST', headers, body, isGuarded: true, tries: 3, headWithinMs: SUBMIT_WITHIN_MS } as const;
  const cure =
    `Whether the jobs are tried again is not known. See \`millrace batch show ${id}\`; ` +
    `the same command with --idempotency-key ${key} tries none a second time.`;
  const request = (): Promise<unknown> => api.json(at(api, id, '/retry'), options);
  context.print(await withGuard(context, (guard) => knownOutcome(guard, cure, request)), batchLines);
}

function batchLines(batch: unknown): string[] {
  const {
    status,
    progress,
    counts,
    job_count: jobCount,
    charged_micros: charged,
    refused_count: refused,
  } = recordOf(batch);
  const states = Object.entries(recordOf(counts)).filter(([, jobs]) => jobs !== 0);
  const gone = Number(jobCount) - states.reduce((sum, [, jobs]) => sum + Number(jobs), 0);
  return tableLines([
    ['status', plainLine(String(status))],
    ['progress', percent(progress)],
    ...states.map(([state, jobs]) => [plainLine(state), String(jobs)]),
    ...(gone > 0 ? [['gone', String(gone)]] : []),
    ...(Number(refused) > 0 ? [['refused', String(refused)]] : []),
    ...(typeof charged === 'number' ? [['cost', `${credits(charged)} credits`]] : []),
  ]);
}

function percent(progress: unknown): string {
  return `${Math.floor(Number(progress) * 100)}%`;
}

/** As it came into a pipe or file; on a terminal with control characters escaped, which leaves its values the same. */
async function results(context: CommandContext, id: string): Promise<void> {
  const { api } = await context.clients();
  const { body } = await api.open(at(api, id, '/results'));
  const { stdout } = context.host;
  const decoder = new TextDecoder();
  try {
    for await (const chunk of body === null ? [] : Readable.fromWeb(body)) {
      const text = decoder.decode(chunk as Uint8Array, { stream: true });
      if (!stdout.write(stdout.isTTY ? escapeJson(text) : text))
        await new Promise((drained) => stdout.once('drain', drained));
    }
  } catch (error) {
    throw cutOff(error);
  }
}

async function download(context: CommandContext, id: string, { out, force }: SaveFlags): Promise<void> {
  const { api } = await context.clients();
  const path = out ?? `batch-${id}.zip`;
  await saveDownload(context, api, at(api, id, '/outputs.zip'), path, { force, mode: AS_OUTPUTS });
  context.print({ saved: path }, () => [plainLine(path)]);
}

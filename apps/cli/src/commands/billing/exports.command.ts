import { Option, type Command } from 'commander';
import { plainLine } from '../../terminal';
import type { Bind, CommandContext } from '../command-context';
import { saveDownload, savedAs, type SaveFlags } from '../save-download';
import { parserOf, wholeNumber } from '../values/typed-value';
import { type ApiClient, recordOf, recordsOf, untilAnswered } from '../../client';
import { EXIT, type ExitCode, ServiceRefusal, UsageFailure } from '../../process';

interface SpanFlags {
  from?: string;
  to?: string;
}

interface DestinationFlags {
  bucket?: string;
  service?: boolean;
  region?: string;
  endpoint?: string;
  prefix?: string;
}

/** Where the secret is read from: arguments of a program are seen by others on its machine. */
const KEY_ID = 'EXPORT_ACCESS_KEY_ID';
const SECRET = 'EXPORT_SECRET_ACCESS_KEY';
const POLL_MS = 500;
const TEST_MS = 120_000;
const LIMIT = wholeNumber(1, 100, 'deliveries');

export function addExports(program: Command, bind: Bind): void {
  const exports = program.command('exports').description('daily files of usage and of the ledger, for finance');
  exports
    .command('list')
    .description('days, and what their files add up to')
    .option('--from <day>', 'from this day on; 30 days before --to by default')
    .option('--to <day>', 'up to this day, which is not included')
    .action(bind(list));
  const files = exports.command('download').description('save the file of a day, CSV in gzip');
  savedAs(files, '<dataset>-<day>.csv.gz')
    .argument('<day>', 'such as 2026-11-22 (UTC)')
    .addOption(new Option('--dataset <dataset>', 'which file').choices(['usage', 'ledger']).default('usage'))
    .action(bind(download));
  addDelivery(exports, bind);
}

async function list(context: CommandContext, { from, to }: SpanFlags): Promise<void> {
  const { api } = await context.clients();
  const url = api.platform('/exports');
  if (from) url.searchParams.set('from', from);
  if (to) url.searchParams.set('to', to);
  const answer = await api.json(url);
  if (context.asJson) return context.printer.json(answer);
  const rows = recordsOf(recordOf(answer).exports).map(({ day, complete, usage, ledger }) => ({
    day,
    complete,
    jobs: recordOf(usage).rows,
    charged_micros: recordOf(usage).charged_micros,
    transactions: recordOf(ledger).rows,
  }));
  context.printRecords({ exports: rows }, 'No days.');
}

async function download(
  context: CommandContext,
  day: string,
  { dataset, out, force }: SaveFlags & { dataset: string },
): Promise<void> {
  const { api } = await context.clients();
  const path = out ?? `${dataset}-${day}.csv.gz`;
  const url = api.platform(`/exports/${encodeURIComponent(day)}/${dataset}.csv.gz`);
  await saveDownload(context, api, url, path, { force });
  context.print({ saved: path }, () => [plainLine(path)]);
}

/** The verbs of `exports` that have files written to a bucket. */
function addDelivery(exports: Command, bind: Bind): void {
  exports
    .command('destination')
    .description('where daily files are written; with --bucket or --service: set it')
    .option('--bucket <name>', `a bucket of yours; its key is read from ${KEY_ID} and ${SECRET}`)
    .option('--service', "the service's own bucket")
    .option('--region <region>', 'of the bucket')
    .option('--endpoint <url>', "of an S3 server other than AWS's")
    .option('--prefix <prefix>', 'what the names of the files begin with')
    .action(bind(destination));
  exports.command('test').description('write a test file, and wait for what comes of it').action(bind(test));
  exports
    .command('deliveries')
    .description('days that were written, newest first')
    .option('--limit <deliveries>', 'how many', parserOf('--limit', LIMIT), 20)
    .option('--cursor <cursor>', 'the next page')
    .action(bind(deliveries));
  exports
    .command('deliver')
    .description('write the files of a day to the destination, also again')
    .argument('<day>', 'such as 2026-11-22 (UTC)')
    .action(bind(deliver));
  exports
    .command('enable')
    .description('write days again')
    .action(bind(enable(true)));
  exports
    .command('disable')
    .description('write no days until `exports enable`')
    .action(bind(enable(false)));
  exports.command('rm').description('remove the destination, and its key').action(bind(remove));
}

const PATH = '/export-destination';

async function destination(context: CommandContext, flags: DestinationFlags): Promise<void> {
  const { api } = await context.clients();
  const json = placeOf(flags, context.host.env);
  const answer = await api.json(api.platform(PATH), json === null ? {} : { method: 'PUT', json });
  context.printRecord(recordOf(answer));
}

/** Null: nothing is to be set. */
function placeOf(
  { bucket, service, ...rest }: DestinationFlags,
  env: Readonly<Record<string, string | undefined>>,
): object | null {
  if (bucket !== undefined && service)
    throw new UsageFailure('--bucket and --service name two destinations.', 'Give one of them.');
  if (service) return { bucket: null, ...rest };
  if (bucket === undefined) {
    if (Object.keys(rest).length === 0) return null;
    throw new UsageFailure(
      'These flags do not say which bucket.',
      'Add --bucket NAME, or --service for the bucket of the service.',
    );
  }
  const [id, secret] = [env[KEY_ID], env[SECRET]];
  if (!id || !secret)
    throw new UsageFailure(
      'There is no key for the bucket.',
      `Set ${KEY_ID} and ${SECRET} in the environment to a key that may write to it.`,
    );
  return { bucket, ...rest, access_key_id: id, secret_access_key: secret };
}

async function test(context: CommandContext): Promise<ExitCode> {
  const { api } = await context.clients();
  const { id } = await asked(api);
  const delivery = await ended(context, api, String(id));
  context.printRecord(delivery);
  if (delivery.state === 'delivered') return EXIT.succeeded;
  const { printer } = context;
  const [message, cure] = verdictOf(delivery);
  printer.notes(`${printer.paintNote.bad('✗')} ${plainLine(message)}`, `  ${printer.paintNote.accent('→')} ${cure}`);
  return EXIT.failed;
}

/** Where a test goes on that is not waited for. */
const LOOK = 'The service goes on with it. See what came of it: millrace exports deliveries';

function verdictOf({ state, attempts }: Record<string, unknown>): [message: string, cure: string] {
  if (state === 'pending') return ['The test file was not written within two minutes.', LOOK];
  const { error } = recordOf(recordsOf(attempts).at(-1));
  const reason = typeof error === 'string' ? `: ${error}` : '.';
  return [
    `The test file was not written${reason}`,
    'Correct the bucket or its key with `millrace exports destination`, then run `millrace exports test` again.',
  ];
}

async function ended(context: CommandContext, api: ApiClient, id: string): Promise<Record<string, unknown>> {
  const { host } = context;
  const until = host.nowMs() + TEST_MS;
  const read = (): Promise<unknown> => api.json(api.platform(`/export-deliveries/${encodeURIComponent(id)}`));
  for (;;) {
    const delivery = recordOf(await untilAnswered(host, LOOK, read));
    if (delivery.state !== 'pending' || host.nowMs() > until) return delivery;
    await host.wait(POLL_MS);
  }
}

/** Ask for a test. One that waits already is the same one, so asking again does no harm. */
async function asked(api: ApiClient): Promise<Record<string, unknown>> {
  try {
    return recordOf(await api.json(api.platform(`${PATH}/test`), { method: 'POST', tries: 3 }));
  } catch (error) {
    if (error instanceof ServiceRefusal && error.code === 'not_found')
      error.facts.cure = 'Set one first: `millrace exports destination --bucket NAME`.';
    throw error;
  }
}

async function deliveries(
  context: CommandContext,
  { limit, cursor }: { limit: number; cursor?: string },
): Promise<void> {
  const { api } = await context.clients();
  const url = api.platform('/export-deliveries');
  url.searchParams.set('limit', String(limit));
  if (cursor !== undefined) url.searchParams.set('cursor', cursor);
  context.printRecords(await api.json(url), 'No deliveries.');
}

async function deliver(context: CommandContext, day: string): Promise<void> {
  const { api } = await context.clients();
  const url = api.platform(`/exports/${encodeURIComponent(day)}/deliver`);
  context.printRecord(recordOf(await api.json(url, { method: 'POST' })));
}

function enable(enabled: boolean): (context: CommandContext) => Promise<void> {
  return async (context) => {
    const { api } = await context.clients();
    context.printRecord(recordOf(await api.json(api.platform(PATH), { method: 'PATCH', json: { enabled } })));
  };
}

async function remove(context: CommandContext): Promise<void> {
  const { api } = await context.clients();
  await api.text(api.platform(PATH), { method: 'DELETE' });
  context.print({ deleted: true }, () => [plainLine('removed')]);
}

import { Option, type Command } from 'commander';
import { plainLine } from '../terminal';
import type { Bind, CommandContext } from './command-context';
import { saveDownload } from './save-download';
import { recordOf, recordsOf } from '../client';

interface SpanFlags {
  from?: string;
  to?: string;
}

export function addExports(program: Command, bind: Bind): void {
  const exports = program.command('exports').description('daily files of usage and of the ledger, for finance');
  exports
    .command('list')
    .alias('ls')
    .description('days, and what their files add up to')
    .option('--from <day>', 'from this day on; 30 days before --to by default')
    .option('--to <day>', 'up to this day, which is not included')
    .action(bind(list));
  exports
    .command('download')
    .description('save the file of a day, CSV in gzip')
    .argument('<day>', 'such as 2026-11-22 (UTC)')
    .addOption(new Option('--dataset <dataset>', 'which file').choices(['usage', 'ledger']).default('usage'))
    .option('--out <file>', 'save it here; by default <dataset>-<day>.csv.gz')
    .action(bind(download));
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
  { dataset, out }: { dataset: string; out?: string },
): Promise<void> {
  const { api } = await context.clients();
  const path = out ?? `${dataset}-${day}.csv.gz`;
  await saveDownload(api, api.platform(`/exports/${encodeURIComponent(day)}/${dataset}.csv.gz`), path);
  context.print({ saved: path }, () => [plainLine(path)]);
}

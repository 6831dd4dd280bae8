import type { Command } from 'commander';
import type { Bind, CommandContext } from './command-context';
import { factLines, recordLines } from './records';
import { plainBlock } from './terminal-text';
import { recordOf, recordsOf } from './wire';

interface CreditsFlags {
  ledger?: boolean;
}

interface UsageFlags {
  from?: string;
  to?: string;
  groupBy: string;
  csv?: boolean;
}

export function addCredits(program: Command, bind: Bind): void {
  program
    .command('credits')
    .description('what is left, and what running jobs hold')
    .option('--ledger', 'the latest postings instead')
    .action(bind(credits));
  program
    .command('usage')
    .description('what was used, by day, key, deployment or label')
    .option('--from <time>', 'from this day or time on')
    .option('--to <time>', 'up to this day or time')
    .option('--group-by <what>', 'day, key, deployment or label:<key>', 'day')
    .option('--csv', 'as CSV')
    .action(bind(usage));
}

async function credits(context: CommandContext, { ledger }: CreditsFlags): Promise<void> {
  const { api } = await context.clients();
  const answer = await api.json(api.platform(ledger ? '/credits/ledger' : '/credits'));
  if (ledger) context.printRecords(answer, 'No postings.');
  else context.printRecord(answer);
}

async function usage(context: CommandContext, { from, to, groupBy, csv }: UsageFlags): Promise<void> {
  const { api } = await context.clients();
  const { printer, host } = context;
  const url = api.platform('/usage');
  url.searchParams.set('group_by', groupBy);
  if (from) url.searchParams.set('from', from);
  if (to) url.searchParams.set('to', to);
  if (csv) {
    const text = await api.text(url, { headers: { accept: 'text/csv' } });
    return printer.raw(host.stdout.isTTY ? plainBlock(text) : text);
  }
  const answer = await api.json(url, { headers: { accept: 'application/json' } });
  context.print(answer, (value) => recordLines(recordsOf(value), host.nowMs(), printer.paint, 'Nothing was used.'));
}

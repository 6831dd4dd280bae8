import type { Command } from 'commander';
import { recordOf } from '../client';
import { UsageFailure } from '../process';
import { plainLine } from '../terminal';
import type { Bind, CommandContext } from './command-context';
import { LISTED } from './values/listed';
import { creditLimit, parserOf, wholeNumber } from './values/typed-value';

interface RuleFlags {
  maxJobs?: number;
  daily?: number;
  monthly?: number;
  stop?: boolean;
  finish?: boolean;
  keepHours?: number;
}

const LABEL = 'the label with its value, such as user=ada; without a value: every value, each by itself';

export function addLabels(program: Command, bind: Bind): void {
  const labels = program.command('labels').description('what your account allows jobs that carry a label');
  labels.command('ls').description('all rules').action(bind(list));
  labels
    .command('limit')
    .description('limit the jobs of a label; what no flag names has no limit')
    .argument('<label>', LABEL)
    .option('--max-jobs <number>', 'jobs that have not ended', parserOf('--max-jobs', wholeNumber(0, 1_000_000)))
    .option('--daily <credits>', 'what they may cost in a day (UTC)', parserOf('--daily', creditLimit))
    .option('--monthly <credits>', 'what they may cost in a month (UTC)', parserOf('--monthly', creditLimit))
    .option('--stop', 'cancel what waits or runs when that is used up')
    .option('--finish', 'let what runs finish when that is used up; by default a job that needs more is ended')
    .option(
      '--keep-hours <hours>',
      'how long they are kept, outputs and all',
      parserOf('--keep-hours', wholeNumber(1, 500_000, 'hours')),
    )
    .action(bind(limit));
  labels
    .command('use')
    .description('what the jobs of a label use of its rule')
    .argument('<label>', 'the label with its value, such as user=ada')
    .action(bind(use));
  labels.command('unlimit').description('delete a rule').argument('<rule>', 'its id').action(bind(remove));
}

async function list(context: CommandContext): Promise<void> {
  const { api } = await context.clients();
  context.printRecords(await api.json(api.platform('/label-rules')), 'No rules.', LISTED.rules);
}

async function limit(context: CommandContext, text: string, flags: RuleFlags): Promise<void> {
  const { maxJobs, daily, monthly, stop = false, finish = false, keepHours } = flags;
  if ([maxJobs, daily, monthly, keepHours].every((limit) => limit === undefined)) {
    throw new UsageFailure('There is no limit to set.', 'Give --max-jobs, --daily, --monthly or --keep-hours.');
  }
  if (stop && finish) throw new UsageFailure('What runs is canceled or may finish.', 'Leave --stop or --finish out.');
  const atCap = stop ? 'stop' : finish ? 'finish' : null;
  if (atCap !== null && daily === undefined && monthly === undefined) {
    throw new UsageFailure(`--${atCap} is for what jobs may cost.`, 'Give --daily or --monthly too.');
  }
  const { api } = await context.clients();
  const json = {
    ...labelOf(text),
    max_jobs: maxJobs ?? null,
    daily_micros: daily ?? null,
    monthly_micros: monthly ?? null,
    daily_at_cap: daily === undefined ? null : atCap,
    monthly_at_cap: monthly === undefined ? null : atCap,
    retention_seconds: keepHours === undefined ? null : keepHours * 3_600,
  };
  context.printRecord(recordOf(await api.json(api.platform('/label-rules'), { method: 'PUT', json })));
}

async function use(context: CommandContext, text: string): Promise<void> {
  const { label, value } = labelOf(text);
  if (value === null) throw new UsageFailure('The label has no value.', 'Write label=value, such as user=ada.');
  const { api } = await context.clients();
  const url = api.platform('/label-use');
  url.searchParams.set('label', label);
  url.searchParams.set('value', value);
  context.printRecord(await api.json(url));
}

async function remove(context: CommandContext, id: string): Promise<void> {
  const { api } = await context.clients();
  await api.text(api.platform(`/label-rules/${encodeURIComponent(id)}`), { method: 'DELETE' });
  context.print({ deleted: id }, () => [`deleted ${plainLine(id)}`]);
}

function labelOf(text: string): { label: string; value: string | null } {
  const at = text.indexOf('=');
  return at < 0 ? { label: text, value: null } : { label: text.slice(0, at), value: text.slice(at + 1) };
}

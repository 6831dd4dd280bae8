import type { Command } from 'commander';
import { recordOf } from '../../client';
import { UsageFailure } from '../../process';
import { plainLine } from '../../terminal';
import type { Bind, CommandContext } from '../command-context';
import { LISTED } from '../values/listed';
import { creditLimit, parserOf } from '../values/typed-value';

interface CapFlags {
  key?: string;
  eachKey?: boolean;
  daily?: number;
  monthly?: number;
  stop?: boolean;
}

export function addSpend(program: Command, bind: Bind): void {
  const spend = program
    .command('spend')
    .description('caps on what jobs may cost, and what is used of them')
    .action(bind(list));
  spend
    .command('cap')
    .description('cap what the jobs of the account, or of a key, may cost; what no flag names has no cap')
    .option('--key <key>', 'only the jobs of this key')
    .option('--each-key', 'the jobs of each key that has no cap of its own, by itself')
    .option('--daily <credits>', 'in a day (UTC)', parserOf('--daily', creditLimit))
    .option('--monthly <credits>', 'in a month (UTC)', parserOf('--monthly', creditLimit))
    .option('--stop', 'cancel what waits or runs when it is used up; by default what runs may finish')
    .action(bind(cap));
  spend.command('uncap').description('delete a cap').argument('<cap>', 'its id').action(bind(remove));
}

async function list(context: CommandContext): Promise<void> {
  const { api } = await context.clients();
  context.printRecords(await api.json(api.platform('/spend')), 'No caps.', LISTED.caps);
}

async function cap(context: CommandContext, flags: CapFlags): Promise<void> {
  const { key, eachKey = false, daily, monthly, stop = false } = flags;
  if (daily === undefined && monthly === undefined) {
    throw new UsageFailure('There is no cap to set.', 'Give --daily or --monthly.');
  }
  if (key !== undefined && eachKey) throw new UsageFailure('A cap is of one key or of each.', 'Leave one of them out.');
  const { api } = await context.clients();
  const atCap = stop ? 'stop' : 'finish';
  const json = {
    scope: key !== undefined || eachKey ? 'key' : 'account',
    key_id: key ?? null,
    daily_micros: daily ?? null,
    monthly_micros: monthly ?? null,
    daily_at_cap: atCap,
    monthly_at_cap: atCap,
  };
  context.printRecord(recordOf(await api.json(api.platform('/spend/caps'), { method: 'PUT', json })));
}

async function remove(context: CommandContext, id: string): Promise<void> {
  const { api } = await context.clients();
  await api.text(api.platform(`/spend/caps/${encodeURIComponent(id)}`), { method: 'DELETE' });
  context.print({ deleted: id }, () => [`deleted ${plainLine(id)}`]);
}

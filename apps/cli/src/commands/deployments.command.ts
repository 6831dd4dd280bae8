import type { Command } from 'commander';
import type { Bind, CommandContext } from './command-context';

export function addDeployments(program: Command, bind: Bind): void {
  const deployments = program.command('deployments').description('deployments that your jobs can run on');
  deployments.command('ls').description('all deployments').action(bind(list));
  deployments.command('get').description('one deployment').argument('<deployment>', 'its id').action(bind(get));
}

async function list(context: CommandContext): Promise<void> {
  const { api } = await context.clients();
  context.printRecords(await api.json(api.platform('/deployments')), 'No deployments.');
}

async function get(context: CommandContext, id: string): Promise<void> {
  const { api } = await context.clients();
  context.printRecord(await api.json(api.platform(`/deployments/${encodeURIComponent(id)}`)));
}

import type { Command } from 'commander';
import { recordOf } from '../client';
import { plainLine } from '../terminal';
import type { Bind, CommandContext } from './command-context';
import { saveDownload, savedAs, type SaveFlags } from './save-download';
import { parseLabels } from './values/assignment';
import { paged, pageOf, type PageFlags } from './values/page-options';

export function addPrivacy(program: Command, bind: Bind): void {
  const privacy = program.command('privacy').description('all that your account has: read it, or have it erased');
  savedAs(
    privacy.command('export').description('save all that the account has as one ZIP archive'),
    'account.zip',
  ).action(bind(save));
  privacy.command('erase-job').description('erase a job for good').argument('<job>', 'its id').action(bind(eraseJob));
  privacy
    .command('erase-label')
    .description('erase for good all that carries a label')
    .argument('<label>', 'the label with its value, such as user=ada')
    .action(bind(eraseLabel));
  privacy
    .command('erase-account')
    .description('close the account and erase for good all that it has')
    .requiredOption('--confirm <sentence>', '`erase account` and the id of the account')
    .action(bind(eraseAccount));
  paged(privacy.command('erasures').description('what was asked to be erased')).action(bind(list));
  privacy.command('erasure').description('how far an erasure is').argument('<erasure>', 'its id').action(bind(show));
}

async function save(context: CommandContext, { out = 'account.zip', force }: SaveFlags): Promise<void> {
  const { api } = await context.clients();
  await saveDownload(context, api, api.platform('/account/export'), out, { force });
  context.print({ saved: out }, () => [plainLine(out)]);
}

const eraseJob = (context: CommandContext, id: string): Promise<void> => ask(context, { subject: 'job', job_id: id });

async function eraseLabel(context: CommandContext, text: string): Promise<void> {
  const [[label, value] = ['', '']] = parseLabels([text]);
  await ask(context, { subject: 'label', label, value });
}

const eraseAccount = (context: CommandContext, { confirm }: { confirm: string }): Promise<void> =>
  ask(context, { subject: 'account', confirm });

async function ask(context: CommandContext, json: object): Promise<void> {
  const { api } = await context.clients();
  context.printRecord(recordOf(await api.json(api.platform('/erasures'), { method: 'POST', json })));
}

async function list(context: CommandContext, flags: PageFlags): Promise<void> {
  const { api } = await context.clients();
  context.printRecords(await api.json(pageOf(api.platform('/erasures'), flags)), 'Nothing was asked to be erased.');
}

async function show(context: CommandContext, id: string): Promise<void> {
  const { api } = await context.clients();
  context.printRecord(recordOf(await api.json(api.platform(`/erasures/${encodeURIComponent(id)}`))));
}

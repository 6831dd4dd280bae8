import { Option, type Command } from 'commander';
import { plainLine } from '../terminal';
import type { Bind, CommandContext } from './command-context';
import { saveDownload, savedAs, type SaveFlags } from './save-download';
import { LISTED } from './values/listed';
import { paged, pageOf, type PageFlags } from './values/page-options';

interface Filters {
  actor?: string;
  action?: string;
  subject?: string;
  from?: string;
  to?: string;
}

export function addAudit(program: Command, bind: Bind): void {
  const audit = program.command('audit').description('what was done to your account, and by whom');
  paged(filtered(audit.command('list').description('acts, newest first'))).action(bind(list));
  savedAs(filtered(audit.command('export').description('save all acts, oldest first')), 'audit-log.<format>')
    .addOption(new Option('--format <format>', 'of the file').choices(['ndjson', 'csv']).default('ndjson'))
    .action(bind(save));
}

function filtered(command: Command): Command {
  return command
    .option('--actor <actor>', 'by this actor alone: api_key:<id>, member:<id> or operator')
    .option('--action <action>', 'of this kind alone, such as api_key.revoke')
    .option('--subject <id>', 'on this key, member, deployment, … alone')
    .option('--from <time>', 'from this day or time on')
    .option('--to <time>', 'up to this day or time, which is not included');
}

function withFilters(url: URL, { actor, action, subject, from, to }: Filters): URL {
  for (const [name, value] of Object.entries({ actor, action, subject_id: subject, from, to }))
    if (value !== undefined) url.searchParams.set(name, value);
  return url;
}

async function list(context: CommandContext, { limit, cursor, ...filters }: Filters & PageFlags): Promise<void> {
  const { api } = await context.clients();
  const url = pageOf(withFilters(api.platform('/audit'), filters), { limit, cursor });
  context.printRecords(await api.page(url), 'No acts.', LISTED.acts);
}

async function save(
  context: CommandContext,
  { format, out, force, ...filters }: Filters & SaveFlags & { format: string },
): Promise<void> {
  const { api } = await context.clients();
  const url = withFilters(api.platform('/audit/export'), filters);
  url.searchParams.set('format', format);
  const path = out ?? `audit-log.${format}`;
  await saveDownload(context, api, url, path, { force });
  context.print({ saved: path }, () => [plainLine(path)]);
}

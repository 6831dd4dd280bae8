import { SCOPES } from '@millrace/contracts';
import { Option, type Command } from 'commander';
import { recordOf } from '../client';
import { plainLine } from '../terminal';
import { parseLabels } from './values/assignment';
import type { Bind, CommandContext } from './command-context';
import { collect, parserOf, timestamp, wholeNumber } from './values/typed-value';

interface CreateFlags {
  scope?: string[];
  label?: string[];
  expiresAt?: string;
}

interface RotateFlags {
  overlap: number;
}

const OVERLAP = wholeNumber(0, 2_592_000, 'seconds');

export function addKeys(program: Command, bind: Bind): void {
  const keys = program.command('keys').description('the API keys of your account');
  keys.command('ls').description('all keys').action(bind(list));
  keys
    .command('create')
    .description('a new key, shown only this once')
    .argument('<name>', 'what it is for')
    .addOption(new Option('--scope <scopes...>', 'what it may do; by default what the service grants').choices(SCOPES))
    .option('-l, --label <key=value>', 'make a sub-key: its jobs have this label, and it sees no others', collect)
    .option(
      '--expires-at <time>',
      'when it stops working, such as 2030-01-31T00:00:00Z',
      parserOf('--expires-at', timestamp),
    )
    .action(bind(create));
  keys
    .command('rotate')
    .description('a new secret for a key, shown only this once')
    .argument('<key>', 'the id of the key')
    .option('--overlap <seconds>', 'how long the old secret still works', parserOf('--overlap', OVERLAP), 3600)
    .action(bind(rotate));
  keys
    .command('revoke')
    .description('make a key invalid at once')
    .argument('<key>', 'the id of the key')
    .action(bind(revoke));
}

async function list(context: CommandContext): Promise<void> {
  const { api } = await context.clients();
  context.printRecords(await api.json(api.platform('/api-keys')), 'No keys.');
}

async function create(context: CommandContext, name: string, { scope, label, expiresAt }: CreateFlags): Promise<void> {
  const labels = label && Object.fromEntries(parseLabels(label));
  const { api } = await context.clients();
  const body = {
    name,
    ...(scope && { scopes: scope }),
    ...(labels && { labels }),
    ...(expiresAt && { expires_at: expiresAt }),
  };
  showSecret(context, await api.json(api.platform('/api-keys'), { method: 'POST', json: body }));
}

async function rotate(context: CommandContext, id: string, { overlap: seconds }: RotateFlags): Promise<void> {
  const { api } = await context.clients();
  const url = api.platform(`/api-keys/${encodeURIComponent(id)}/rotate`);
  showSecret(context, await api.json(url, { method: 'POST', json: { overlap_seconds: seconds } }));
}

async function revoke(context: CommandContext, id: string): Promise<void> {
  const { api } = await context.clients();
  await api.text(api.platform(`/api-keys/${encodeURIComponent(id)}`), { method: 'DELETE' });
  context.print({ revoked: id }, () => [`revoked ${plainLine(id)}`]);
}

/** Only the secret on standard output, so that it can be piped. */
function showSecret(context: CommandContext, answer: unknown): void {
  const { id, key } = recordOf(answer);
  const { printer } = context;
  context.print(answer, () => [plainLine(String(key))]);
  const advice = `Key ${plainLine(String(id))}. It is not shown again: store it with your secrets.`;
  printer.notes(printer.paintNote.faint(advice));
}

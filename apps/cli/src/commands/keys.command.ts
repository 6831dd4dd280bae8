import { SCOPES } from '@millrace/contracts';
import { Option, type Command } from 'commander';
import { recordOf } from '../client';
import { UsageFailure } from '../process';
import { plainLine } from '../terminal';
import { parseLabels } from './values/assignment';
import type { Bind, CommandContext } from './command-context';
import { LISTED } from './values/listed';
import { collect, parserOf, timestamp, wholeNumber, type ReadValue } from './values/typed-value';

interface ListFlags {
  label?: string[];
}

interface CreateFlags {
  scope?: string[];
  label?: string[];
  expiresAt?: string;
  allow?: string[];
}

interface RulesFlags {
  allow?: string[];
  allowAnywhere?: true;
  maxAge?: number | null;
}

interface RotateFlags {
  overlap?: number;
}

const MAX_AGE: ReadValue<number | null> = (text, name) =>
  text === 'none' ? null : wholeNumber(3_600, 315_360_000, 'seconds')(text, name);
const OVERLAP = wholeNumber(0, 2_592_000, 'seconds');

export function addKeys(program: Command, bind: Bind): void {
  const keys = program.command('keys').description('the API keys of your account');
  keys
    .command('ls')
    .description('all keys, or the sub-keys of a label')
    .option('-l, --label <key=value>', 'only sub-keys with this label', collect)
    .action(bind(list));
  keys
    .command('create')
    .description('a new key, shown only this once')
    .argument('<name>', 'what it is for')
    .addOption(new Option('--scope <scopes...>', 'what it may do; by default what the service grants').choices(SCOPES))
    .option('-l, --label <key=value>', 'make a sub-key: its jobs have this label, and it sees no others', collect)
    .option('--allow <networks...>', 'addresses and networks from which it may be used, such as 203.0.113.0/24')
    .option(
      '--expires-at <time>',
      'when it stops working: a day (UTC), or a time such as 2030-01-31T12:00:00Z',
      parserOf('--expires-at', timestamp),
    )
    .action(bind(create));
  keys
    .command('rotate')
    .description('a new secret for a key, shown only this once')
    .argument('<key>', 'the id of the key')
    .option(
      '--overlap <seconds>',
      'how long the old secret still works; a day if absent',
      parserOf('--overlap', OVERLAP),
    )
    .action(bind(rotate));
  keys
    .command('revoke')
    .description('make a key invalid at once')
    .argument('<key>', 'the id of the key')
    .action(bind(revoke));
  keys
    .command('allow')
    .description('change from where a key may be used; without a network: from anywhere that your account allows')
    .argument('<key>', 'the id of the key')
    .argument('[networks...]', 'addresses and networks, such as 203.0.113.0/24')
    .action(bind(allow));
  addRules(keys, bind);
}

function addRules(keys: Command, bind: Bind): void {
  const rules = keys
    .command('rules')
    .description('from where, and until which age, the keys of your account may be used')
    .action(bind(showRules));
  rules
    .command('set')
    .description('change them, for all keys of the account')
    .option('--allow <networks...>', 'addresses and networks, such as 203.0.113.0/24')
    .option('--allow-anywhere', 'from anywhere')
    .option('--max-age <seconds>', 'the age at which a key ends; none: at no age', parserOf('--max-age', MAX_AGE))
    .action(bind(setRules));
}

async function list(context: CommandContext, { label = [] }: ListFlags): Promise<void> {
  const labels = parseLabels(label);
  const { api } = await context.clients();
  const url = api.platform('/api-keys');
  for (const [key, value] of labels) url.searchParams.append(`labels[${key}]`, value);
  context.printRecords(await api.json(url), 'No keys.', LISTED.keys);
}

async function create(
  context: CommandContext,
  name: string,
  { scope, label, expiresAt, allow }: CreateFlags,
): Promise<void> {
  const labels = label && Object.fromEntries(parseLabels(label));
  const { api } = await context.clients();
  const body = {
    name,
    ...(scope && { scopes: scope }),
    ...(labels && { labels }),
    ...(allow && { allowed_addresses: allow }),
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

async function allow(context: CommandContext, id: string, networks: string[]): Promise<void> {
  const { api } = await context.clients();
  const url = api.platform(`/api-keys/${encodeURIComponent(id)}`);
  context.printRecord(recordOf(await api.json(url, { method: 'PATCH', json: { allowed_addresses: networks } })));
}

async function showRules(context: CommandContext): Promise<void> {
  const { api } = await context.clients();
  context.printRecord(recordOf(await api.json(api.platform('/account/access'))));
}

/** What no flag names stays as it is. */
async function setRules(context: CommandContext, flags: RulesFlags): Promise<void> {
  const { allowAnywhere, maxAge } = flags;
  const addresses = allowAnywhere ? [] : flags.allow;
  if (addresses === undefined && maxAge === undefined) {
    throw new UsageFailure('There is nothing to set.', 'See millrace keys rules set --help.');
  }
  if (allowAnywhere && flags.allow) {
    throw new UsageFailure('--allow and --allow-anywhere exclude each other.', 'Leave one of them out.');
  }
  const json = {
    ...(addresses && { allowed_addresses: addresses }),
    ...(maxAge !== undefined && { key_max_age_seconds: maxAge }),
  };
  const { api } = await context.clients();
  context.printRecord(recordOf(await api.json(api.platform('/account/access'), { method: 'PATCH', json })));
}

/** Only the secret on standard output, so that it can be piped. */
function showSecret(context: CommandContext, answer: unknown): void {
  const { id, key, expires_at: expiresAt } = recordOf(answer);
  const { printer } = context;
  context.print(answer, () => [plainLine(String(key))]);
  const end = typeof expiresAt === 'string' ? ` It expires at ${expiresAt}.` : '';
  const advice = `Key ${String(id)}.${end} It is not shown again: store it with your secrets.`;
  printer.notes(printer.paintNote.faint(plainLine(advice)));
}

import { WEBHOOK_EVENTS } from '@millrace/contracts';
import { Option, type Command } from 'commander';
import { recordOf } from '../client';
import { plainLine } from '../terminal';
import type { Bind, CommandContext } from './command-context';
import { LISTED } from './values/listed';
import { parserOf, timestamp, wholeNumber } from './values/typed-value';

interface AddFlags {
  event?: string[];
  description?: string;
}

interface ReplayFlags {
  message?: string;
  since?: string;
  until?: string;
  delivered?: boolean;
  cursor?: string;
}

const OVERLAP = wholeNumber(0, 2_592_000, 'seconds');
const LIMIT = wholeNumber(1, 100, 'messages');
const ENDPOINT = 'the id of the endpoint';

export function addWebhooks(program: Command, bind: Bind): void {
  const webhooks = program.command('webhooks').description('where the events of your account are sent');
  webhooks.command('ls').description('all endpoints').action(bind(list));
  webhooks
    .command('add')
    .description('a new endpoint; its secret is shown only this once')
    .argument('<url>', 'where events are sent, https://')
    .addOption(new Option('--event <events...>', 'what is sent; by default all of it').choices(WEBHOOK_EVENTS))
    .option('--description <text>', 'a note for people')
    .action(bind(add));
  webhooks.command('test').description('send a test').argument('<endpoint>', ENDPOINT).action(bind(test));
  webhooks
    .command('rotate')
    .description('a new secret for an endpoint, shown only this once')
    .argument('<endpoint>', ENDPOINT)
    .option(
      '--overlap <seconds>',
      'how long the old secret signs, too; a day if absent',
      parserOf('--overlap', OVERLAP),
    )
    .action(bind(rotate));
  webhooks.command('enable').description('send to it again').argument('<endpoint>', ENDPOINT).action(bind(enable));
  webhooks.command('rm').description('delete an endpoint').argument('<endpoint>', ENDPOINT).action(bind(remove));
  webhooks
    .command('deliveries')
    .description('what was sent to an endpoint, newest first')
    .argument('<endpoint>', ENDPOINT)
    .addOption(new Option('--state <state>', 'only messages in this state').choices(['pending', 'delivered', 'failed']))
    .option('--limit <messages>', 'how many', parserOf('--limit', LIMIT), 20)
    .option('--cursor <cursor>', 'the next page')
    .action(bind(deliveries));
  webhooks
    .command('replay')
    .description('send a message again, or those of a time span that failed')
    .argument('<endpoint>', ENDPOINT)
    .option('--message <id>', 'this message')
    .addOption(
      new Option('--since <time>', 'events from this day (UTC) or time on, such as 2030-01-31T12:00:00Z')
        .argParser(parserOf('--since', timestamp))
        .conflicts('message'),
    )
    .option('--until <time>', 'events before this day or time', parserOf('--until', timestamp))
    .option('--delivered', 'those that were delivered, too')
    .addOption(new Option('--cursor <cursor>', 'go on behind those of the answer before').conflicts('message'))
    .action(bind(replay));
}

const pathOf = (id: string, rest = ''): string => `/webhook-endpoints/${encodeURIComponent(id)}${rest}`;

async function list(context: CommandContext): Promise<void> {
  const { api } = await context.clients();
  context.printRecords(await api.json(api.platform('/webhook-endpoints')), 'No endpoints.', LISTED.endpoints);
}

async function add(context: CommandContext, url: string, { event, description }: AddFlags): Promise<void> {
  const { api } = await context.clients();
  const body = { url, ...(event && { events: event }), ...(description && { description }) };
  showSecret(context, await api.json(api.platform('/webhook-endpoints'), { method: 'POST', json: body }));
}

async function test(context: CommandContext, id: string): Promise<void> {
  const { api } = await context.clients();
  const message = await api.json(api.platform(pathOf(id, '/test')), { method: 'POST' });
  context.print(message, () => [`sent as message ${plainLine(String(recordOf(message).id))}`]);
}

async function rotate(context: CommandContext, id: string, { overlap }: { overlap?: number }): Promise<void> {
  const { api } = await context.clients();
  const json = { overlap_seconds: overlap };
  showSecret(context, await api.json(api.platform(pathOf(id, '/rotate')), { method: 'POST', json }));
}

async function enable(context: CommandContext, id: string): Promise<void> {
  const { api } = await context.clients();
  const endpoint = await api.json(api.platform(pathOf(id)), { method: 'PATCH', json: { enabled: true } });
  context.print(endpoint, () => [`enabled ${plainLine(id)}`]);
}

async function remove(context: CommandContext, id: string): Promise<void> {
  const { api } = await context.clients();
  await api.text(api.platform(pathOf(id)), { method: 'DELETE' });
  context.print({ deleted: id }, () => [`deleted ${plainLine(id)}`]);
}

async function deliveries(
  context: CommandContext,
  id: string,
  { state, limit, cursor }: { state?: string; limit: number; cursor?: string },
): Promise<void> {
  const { api } = await context.clients();
  const url = api.platform(pathOf(id, '/messages'));
  url.searchParams.set('limit', String(limit));
  if (state !== undefined) url.searchParams.set('state', state);
  if (cursor !== undefined) url.searchParams.set('cursor', cursor);
  context.printRecords(await api.page(url), 'No messages.', LISTED.messages);
}

async function replay(context: CommandContext, id: string, flags: ReplayFlags): Promise<void> {
  const { api } = await context.clients();
  if (flags.message !== undefined) {
    const path = pathOf(id, `/messages/${encodeURIComponent(flags.message)}/replay`);
    const message = await api.json(api.platform(path), { method: 'POST' });
    return context.print(message, () => [`message ${plainLine(String(recordOf(message).id))} is sent again`]);
  }
  const { since, until, delivered = false, cursor } = flags;
  const json = { ...(since && { since }), ...(until && { until }), delivered, ...(cursor !== undefined && { cursor }) };
  const answer = await api.json(api.platform(pathOf(id, '/replay')), { method: 'POST', json });
  const { replayed, more, next_cursor: next } = recordOf(answer);
  const again = typeof next === 'string' ? ` with --cursor ${plainLine(next)}` : '';
  const rest = more === true ? `; there may be more: run it again${again}` : '';
  context.print(answer, () => [`${Number(replayed)} messages are sent again${rest}`]);
}

/** Only the secret on standard output, so that it can be piped. */
function showSecret(context: CommandContext, answer: unknown): void {
  const { id, secret } = recordOf(answer);
  const { printer } = context;
  context.print(answer, () => [plainLine(String(secret))]);
  const advice = `Endpoint ${plainLine(String(id))}. Its secret is not shown again: store it with your secrets.`;
  printer.notes(printer.paintNote.faint(advice));
}

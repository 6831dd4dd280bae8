import type { Command } from 'commander';
import { type ApiClient, recordOf, untilAnswered } from '../../client';
import { EXIT, type ExitCode, ServiceFailure } from '../../process';
import { count, plainBlock, plainLine } from '../../terminal';
import type { Bind, CommandContext } from '../command-context';
import { creditLimit, parserOf, webAddress, wholeNumber } from '../values/typed-value';

interface CreditsFlags {
  ledger?: boolean;
  limit?: number;
  cursor?: string;
}

interface BuyFlags {
  returnUrl?: string;
  wait?: boolean;
}

interface UsageFlags {
  from?: string;
  to?: string;
  groupBy: string;
  csv?: boolean;
}

/** Pause between two reads of an order that is not paid yet. */
const POLL_MS = 3_000;
const RETURN = parserOf('--return-url', webAddress);

export function addCredits(program: Command, bind: Bind): void {
  const credits = program
    .command('credits')
    .description('credits that are left, and those that running jobs hold')
    .option('--ledger', 'the latest postings of the ledger instead')
    .option('--limit <number>', 'with --ledger: how many at most', parserOf('--limit', wholeNumber(1, 100)))
    .option('--cursor <cursor>', 'with --ledger: continue after an earlier page')
    .action(bind(balance));
  credits
    .command('buy')
    .description('order credits, and print the address of the page to pay on')
    .argument('<credits>', 'how many, a whole number', parserOf('<credits>', wholeNumber(1)))
    .option('--return-url <address>', "where the payer returns to; by default the service's reference page", RETURN)
    .option('--wait', 'wait until it is paid, canceled or expired')
    .action(bind(buy));
  credits
    .command('order')
    .description('whether an order is paid')
    .argument('<order>', 'its id, as `credits buy` printed it')
    .action(bind(order));
  credits
    .command('alert')
    .description('below how many credits the webhook event credits.low is sent')
    .argument('[credits]', 'set it; 0: never', parserOf('[credits]', creditLimit))
    .action(bind(alert));
  program
    .command('usage')
    .description('usage by day, key, deployment or label')
    .option('--from <time>', 'from this day or time on')
    .option('--to <time>', 'up to this day or time')
    .option('--group-by <what>', 'day, key, deployment, version or label:<key>', 'day')
    .option('--csv', 'as CSV')
    .action(bind(usage));
}

async function balance(context: CommandContext, { ledger, limit, cursor }: CreditsFlags): Promise<void> {
  const { api } = await context.clients();
  if (!ledger) return showBalance(context, recordOf(await api.json(api.platform('/credits'))), api);
  const url = api.platform('/credits/ledger');
  if (limit !== undefined) url.searchParams.set('limit', String(limit));
  if (cursor !== undefined) url.searchParams.set('cursor', cursor);
  context.printRecords(await api.json(url), 'No postings.');
}

/** No credits are what an account has that used them up, and what there is where nothing costs any: nobody has a key there. */
async function showBalance(context: CommandContext, balance: Record<string, unknown>, api: ApiClient): Promise<void> {
  context.printRecord(balance);
  if (balance.available_micros !== 0) return;
  const { key } = recordOf(await api.json(api.platform('/account')));
  const { printer } = context;
  if (recordOf(key).id === null) printer.notes(printer.paintNote.faint('Nothing costs credits here.'));
}

async function alert(context: CommandContext, belowMicros: number | undefined): Promise<void> {
  const { api } = await context.clients();
  const url = api.platform('/credits/alert');
  const change = belowMicros === undefined ? {} : { method: 'PUT' as const, json: { below_micros: belowMicros } };
  context.printRecord(await api.json(url, change));
}

/** The address alone on standard output, so that another program can open it. */
async function buy(context: CommandContext, amount: number, { returnUrl, wait }: BuyFlags): Promise<ExitCode> {
  const { api } = await context.clients();
  const { printer, asJson } = context;
  const json = { credits: amount, return_url: returnUrl ?? api.api('/reference').href };
  // An order that nobody pays costs nothing, and ends within a day.
  const request = { method: 'POST', json, isRepeatable: true } as const;
  const order = recordOf(await api.json(api.platform('/top-ups'), request));
  const { id, checkout_url: page, price_minor: price, currency } = order;
  if (typeof id !== 'string' || typeof page !== 'string')
    throw new ServiceFailure('The service opened an order without a page to pay it on.', {
      code: 'unexpected_answer',
    });
  if (!asJson) printer.lines([plainLine(page)]);
  else if (wait) printer.notes(plainLine(page));
  else printer.json(order);
  const { faint } = printer.paintNote;
  const terms = `${count(amount, 'credit')} for ${String(price)} ${String(currency)} (in its smallest unit).`;
  const next = wait ? 'Waiting for the payment.' : `Is it paid? millrace credits order ${id}`;
  printer.notes(faint(plainLine(`${terms} ${next}`)));
  return wait ? showEnd(context, await endOf(api, context, id)) : EXIT.succeeded;
}

/** The order once it is no longer open; the service ends every order within a day. */
async function endOf(api: ApiClient, { host }: CommandContext, id: string): Promise<Record<string, unknown>> {
  const cure = `The order stays open. Is it paid? millrace credits order ${id}`;
  for (;;) {
    const order = await untilAnswered(host, cure, () => readOrder(api, id));
    if (order.status !== 'open') return order;
    await host.wait(POLL_MS);
  }
}

function showEnd({ asJson, printer }: CommandContext, order: Record<string, unknown>): ExitCode {
  const { paintNote } = printer;
  const isPaid = order.status === 'paid';
  if (asJson) printer.json(order);
  printer.notes(
    isPaid
      ? `${paintNote.good('✓')} paid; the credits were added`
      : `${paintNote.bad('✗')} ${plainLine(String(order.status))}; no credits were added`,
  );
  return isPaid ? EXIT.succeeded : EXIT.failed;
}

async function order(context: CommandContext, id: string): Promise<void> {
  const { api } = await context.clients();
  context.printRecord(await readOrder(api, id));
}

async function readOrder(api: ApiClient, id: string): Promise<Record<string, unknown>> {
  return recordOf(await api.json(api.platform(`/top-ups/${encodeURIComponent(id)}`)));
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
  const report = await api.json(url, { headers: { accept: 'application/json' } });
  context.printRecords(report, 'Nothing was used.');
  if (recordOf(report).truncated === true)
    printer.notes('There are more groups than are listed: add --csv to read all.');
}

import type { Command } from 'commander';
import { checkedKey, parseBaseUrl, removeLogin, resolveSettings, type Settings, writeLogin } from '../login';
import { ServiceRefusal, UsageFailure } from '../process';
import { ask, firstLine } from '../terminal';
import type { Bind, CommandContext } from './command-context';

export function addLogin(program: Command, bind: Bind): void {
  program
    .command('login')
    .description('check an address and an API key, and store them for later commands')
    .addHelpText('after', '\nAsks for what flags and environment do not give; a line piped in is the key.')
    .action(bind(login));
  program.command('logout').description('remove the stored address and key').action(bind(logout));
}

async function login(context: CommandContext): Promise<void> {
  const settings = await askSettings(context);
  const { api } = context.clientsOf(settings);
  const url = api.api('/jobs');
  url.searchParams.set('limit', '1');
  await api.json(url).catch((error: unknown) => {
    // A key without the scope to list jobs is a valid key, too.
    if (!(error instanceof ServiceRefusal && error.facts.status === 403)) throw error;
  });
  const address = settings.baseUrl.href.replace(/\/$/, '');
  const path = await writeLogin(context.host, { url: address, apiKey: settings.apiKey });
  const { paintNote } = context.printer;
  if (context.asJson) context.printer.json({ url: address, path });
  context.printer.notes(
    `${paintNote.good('✓')} ${address} ${settings.apiKey ? 'accepts this key' : 'requires no key'}; stored in ${path}`,
  );
  if (settings.apiKey && isExposed(settings.baseUrl))
    context.printer.notes(paintNote.warn('  The address is not https: the key is sent unencrypted.'));
}

async function logout(context: CommandContext): Promise<void> {
  const removed = await removeLogin(context.host);
  if (context.asJson) context.printer.json({ removed });
  context.printer.notes(removed ? 'The login was removed.' : 'There was no login.');
}

/** From flags and environment; the rest from the terminal, or the key from standard input. */
async function askSettings({ host, flags }: CommandContext): Promise<Settings> {
  const isTerminal = host.stdin.isTTY === true;
  const known = flags.url ?? host.env.MILLRACE_URL ?? host.env.COMFY_BASE_URL;
  if (!known && !isTerminal) throw new UsageFailure('No service is named.', 'Add --url, or set MILLRACE_URL.');
  const url = known || (await ask(host, 'Address of the service: ', 'shown'));
  const { apiKey } = resolveSettings({ ...flags, url: parseBaseUrl(url).href }, host.env, null);
  const entered =
    apiKey ?? (isTerminal ? await ask(host, 'API key (empty for none): ', 'secret') : await firstLine(host));
  return { baseUrl: parseBaseUrl(url), apiKey: entered === '' ? null : checkedKey(entered) };
}

function isExposed(url: URL): boolean {
  return url.protocol === 'http:' && !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
}

import { InvalidArgumentError, Option, type Command } from 'commander';
import { ADMIN_VERBS, type AdminVerb } from './admin-verbs';
import type { Bind, CommandContext } from './command-context';
import { EXIT, UsageFailure, type ExitCode } from './failure';
import { factLines, recordLines } from './records';
import { checkedKey, parseBaseUrl } from './settings';
import { recordOf, recordsOf } from './wire';

interface AdminFlags {
  opsUrl?: string;
  adminToken?: string;
}

/** Operators' commands, over the admin API of the ops listener. */
export function addAdmin(program: Command, bind: Bind): void {
  const admin = program
    .command('admin')
    .description('for operators: the admin API of the ops listener')
    .option('--ops-url <address>', 'the ops listener; else MILLRACE_OPS_URL')
    .option('--admin-token <token>', 'its token; else MILLRACE_ADMIN_TOKEN');
  for (const verb of ADMIN_VERBS) {
    const command = admin.command(verb.name).description(verb.text);
    for (const name of verb.args) command.argument(`<${name}>`);
    for (const [flag, text] of verb.flags ?? []) command.addOption(optionOf(flag, text));
    command.action(function run(this: Command, ...given: unknown[]) {
      const args = given.slice(0, verb.args.length).map(String);
      const own = this.opts<Record<string, unknown>>();
      const admin = this.optsWithGlobals<AdminFlags>();
      return bind((context) => call(context, verb, args, bodyOf(own), admin)).call(this);
    });
  }
}

function optionOf(flag: string, text: string): Option {
  const option = new Option(flag, text);
  return flag.includes('<number>') ? option.argParser(wholeNumber) : option;
}

async function call(
  context: CommandContext,
  verb: AdminVerb,
  args: string[],
  options: Record<string, unknown>,
  flags: AdminFlags,
): Promise<ExitCode> {
  const { opsUrl = context.host.env.MILLRACE_OPS_URL, adminToken = context.host.env.MILLRACE_ADMIN_TOKEN } = flags;
  if (!opsUrl || !adminToken)
    throw new UsageFailure(
      'The ops listener or its token is not named.',
      'Set MILLRACE_OPS_URL and MILLRACE_ADMIN_TOKEN, or add --ops-url and --admin-token after `admin`.',
    );
  const { api } = context.clientsOf({ baseUrl: parseBaseUrl(opsUrl), apiKey: checkedKey(adminToken) });
  const { method, path, json } = verb.request(args.map(encodeURIComponent), args, options);
  const answer = await api.json(new URL(`/admin/v1${path}`, api.baseUrl), { method, json });
  const { paint } = context.printer;
  const nowMs = context.host.nowMs();
  context.print(answer, (value) => {
    if (value === null) return [paint.good('✓ done')];
    return verb.isList
      ? recordLines(recordsOf(value), nowMs, paint, 'None.')
      : factLines(recordOf(value), nowMs, paint);
  });
  return recordOf(answer).ok === false ? EXIT.failed : EXIT.succeeded;
}

/** Flags as fields of a request: `--running-limit 4` is `running_limit: 4`. */
function bodyOf(options: Record<string, unknown>): Record<string, unknown> {
  const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(options).map(([name, value]) => [snake(name), value]));
}

function wholeNumber(value: string): number {
  if (/^\d{1,15}$/.test(value)) return Number(value);
  throw new InvalidArgumentError('Give a whole number.');
}

import { randomUUID } from 'node:crypto';
import { Argument, Option, type Command } from 'commander';
import { type ApiClient, type CallOptions, recordOf } from '../../client';
import { knownOutcome } from '../../follow';
import { checkedKey, parseBaseUrl } from '../../login';
import { EXIT, type ExitCode, UsageFailure } from '../../process';
import type { AdminVerb, TypedField } from './admin-verb';
import { ADMIN_VERBS } from './admin-verbs';
import type { Bind, CommandContext } from '../command-context';
import { withGuard } from '../interrupt-option';
import { plainLine } from '../../terminal';
import { saveDownload, savedAs, type SaveFlags } from '../save-download';
import { idempotencyKey } from '../values/typed-value';

interface AdminFlags {
  opsUrl?: string;
  adminToken?: string;
  reason?: string;
}

/** The command line after a verb. */
interface Typed {
  args: string[];
  /** By the attribute name that commander gives a flag. */
  flags: Record<string, string | string[] | boolean | undefined>;
}

/** The request of a verb. */
interface AdminRequest {
  path: string;
  fields: Record<string, unknown>;
  /** The Idempotency-Key, for verbs that take one. */
  key?: string;
}

/** How often a request with an Idempotency-Key is tried. */
const TRIES = 3;

/** Operators' commands, over the admin API of the ops listener. */
export function addAdmin(program: Command, bind: Bind): void {
  const admin = program
    .command('admin')
    .description('for operators: the admin API of the ops listener')
    .option('--ops-url <address>', 'the ops listener; else MILLRACE_OPS_URL')
    .option('--admin-token <token>', 'its token, or an operator token; else MILLRACE_ADMIN_TOKEN')
    .option('--reason <text>', 'why, such as a ticket, for the audit log');
  for (const verb of ADMIN_VERBS) addVerb(admin, verb, bind);
}

function addVerb(admin: Command, verb: AdminVerb, bind: Bind): void {
  const { ids = [], args = [], flags = [] } = verb;
  const command = admin.command(verb.name).description(verb.text);
  for (const id of ids) command.argument(`<${id}>`, `the id of the ${id}`);
  for (const { typed, text } of args) command.addArgument(new Argument(typed, text));
  for (const { typed, text } of flags) command.option(typed, text);
  if (verb.saves !== undefined) savedAs(command, verb.saves);
  if (verb.takesKey)
    command.option(
      '--idempotency-key <key>',
      'sending it again with the same key changes nothing; by default a new one',
    );
  command.action(function run(this: Command, ...given: unknown[]) {
    const typed = { args: given.slice(0, ids.length + args.length).map(String), flags: this.opts<Typed['flags']>() };
    const flags = this.optsWithGlobals<AdminFlags & SaveFlags>();
    return bind((context) => call(context, verb, requestOf(verb, typed), flags)).call(this);
  });
}

/** @throws {UsageFailure} naming the argument or flag that is wrong. */
function requestOf(
  { route, ids = [], args = [], flags = [], takesKey }: AdminVerb,
  { args: texts, flags: given }: Typed,
): AdminRequest {
  const values = [
    ...args.map((field, index) => [field.field, valueOf(field, texts[ids.length + index])] as const),
    ...flags.map((field) => [field.field, valueOf(field, given[attributeOf(field)])] as const),
  ].filter(([, value]) => value !== undefined);
  if (route.startsWith('PATCH') && values.length === 0)
    throw new UsageFailure('Nothing to change.', `Give at least one of ${flags.map(nameOf).join(', ')}.`);
  const places = texts.slice(0, ids.length);
  const path = route.replace(/^\w+ /, '').replaceAll(/\{\w+\}/g, () => encodeURIComponent(places.shift() ?? ''));
  const key = String(given.idempotencyKey ?? randomUUID());
  return { path, fields: Object.fromEntries(values), ...(takesKey && { key: idempotencyKey(key) }) };
}

function valueOf(field: TypedField, typed: Typed['flags'][string]): unknown {
  const { read = (text: string) => text } = field;
  if (typed === undefined || typeof typed === 'boolean') return typed;
  return Array.isArray(typed) ? typed.map((text) => read(text, nameOf(field))) : read(typed, nameOf(field));
}

/** `--running-limit`, `<credits>`. */
function nameOf({ typed }: TypedField): string {
  return typed.split(' ')[0] ?? typed;
}

function attributeOf({ typed, text }: TypedField): string {
  return new Option(typed, text).attributeName();
}

async function call(
  context: CommandContext,
  verb: AdminVerb,
  wanted: AdminRequest,
  flags: AdminFlags & SaveFlags,
): Promise<ExitCode> {
  const { opsUrl = context.host.env.MILLRACE_OPS_URL, adminToken = context.host.env.MILLRACE_ADMIN_TOKEN } = flags;
  if (!opsUrl || !adminToken)
    throw new UsageFailure(
      'The address or the token of the ops listener is missing.',
      'Set MILLRACE_OPS_URL and MILLRACE_ADMIN_TOKEN, or add --ops-url and --admin-token after `admin`.',
    );
  const { api } = context.clientsOf({ baseUrl: parseBaseUrl(opsUrl), apiKey: checkedKey(adminToken) });
  if (verb.saves !== undefined) {
    const path = flags.out ?? verb.saves;
    await saveDownload(context, api, new URL(`/admin/v1${wanted.path}`, api.baseUrl), path, {
      headers: reasonHeader(flags.reason),
      force: flags.force,
    });
    context.print({ saved: path }, () => [plainLine(path)]);
    return EXIT.succeeded;
  }
  const answer = await request(context, api, verb, wanted, flags.reason);
  if (verb.isList) context.printRecords(answer, 'None.', verb.first);
  else context.printRecord(answer);
  return recordOf(answer).ok === false ? EXIT.failed : EXIT.succeeded;
}

async function request(
  context: CommandContext,
  api: ApiClient,
  { route, args, flags, isList }: AdminVerb,
  { path, fields, key }: AdminRequest,
  reason?: string,
): Promise<unknown> {
  const method = METHODS.find((known) => route.startsWith(`${known} `));
  const url = new URL(`/admin/v1${path}`, api.baseUrl);
  const inQuery = method === 'GET' || method === 'DELETE';
  if (inQuery) for (const [name, value] of Object.entries(fields)) url.searchParams.set(name, String(value));
  const json = !inQuery && (args ?? flags) ? fields : undefined;
  const headers = reasonHeader(reason);
  if (isList && method === 'GET') return api.page(url, { headers });
  if (key === undefined) return api.json(url, { method, json, headers });
  const cure = `Whether it was done is not known; sending it again with --idempotency-key ${key} does it once.`;
  const keyed = (): Promise<unknown> =>
    api.json(url, { method, json, headers: { ...headers, 'idempotency-key': key }, isGuarded: true, tries: TRIES });
  return withGuard(context, (guard) => knownOutcome(guard, cure, keyed));
}

const reasonHeader = (reason?: string): Record<string, string> =>
  reason === undefined ? {} : { 'millrace-reason': encodeURIComponent(reason) };

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const satisfies CallOptions['method'][];

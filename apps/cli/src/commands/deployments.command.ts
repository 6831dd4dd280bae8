import { DEPLOYMENT_LIMITS } from '@millrace/contracts';
import type { Command } from 'commander';
import type { CallOptions, JsonAnswer } from '../client';
import { UsageFailure } from '../process';
import { plainLine } from '../terminal';
import type { Bind, CommandContext } from './command-context';
import { graphFileOrNone } from './values/graph-file';
import { LISTED } from './values/listed';
import { modelsOrNone } from './values/model-list';
import { paged, pageOf, type PageFlags } from './values/page-options';
import { limitOrDefault, parserOf, wholeNumber } from './values/typed-value';

interface ScaleFlags {
  name?: string;
  class?: string;
  minWorkers?: number;
  maxWorkers?: number;
  idle?: number;
  queueLimit?: number | null;
  attemptLimit?: number | null;
  warmUp?: unknown;
  models?: unknown;
}

type Bounds = (typeof DEPLOYMENT_LIMITS)[keyof typeof DEPLOYMENT_LIMITS];

export function addDeployments(program: Command, bind: Bind): void {
  const deployments = program.command('deployments').description('deployments that your jobs can run on');
  const on = (name: string, text: string): Command =>
    deployments.command(name).description(text).argument('<deployment>', 'its id');
  deployments.command('ls').description('all deployments').action(bind(list));
  on('get', 'one deployment').action(bind(get));
  scaled(
    deployments
      .command('create')
      .description('a new deployment')
      .argument('<name>', 'what it is called')
      .argument('<class>', 'what its workers run on, of engine-classes'),
  ).action(bind(create));
  scaled(on('update', 'change a deployment').option('--name <name>', 'what it is called'))
    .option('--class <class>', 'what its workers run on, of engine-classes')
    .action(bind(update));
  on('start', 'start a deployment').action(bind((context: CommandContext, id: string) => act(context, id, 'start')));
  on('stop', 'stop a deployment').action(bind((context: CommandContext, id: string) => act(context, id, 'stop')));
  on('delete', 'delete a deployment').option('--drain', 'let its jobs end first').action(bind(remove));
  on('versions', 'its versions, the newest first').action(bind(versions));
  scaled(on('add-version', 'try another version on a share of its jobs'))
    .option('--class <class>', 'what its workers run on, of engine-classes')
    .option('--weight <percent>', 'jobs that run on it; by default none', parserOf('--weight', wholeNumber(0, 100)))
    .action(bind(addVersion));
  on('weigh', 'give a version its share of the jobs')
    .argument('<version>', 'its number')
    .argument('<percent>', 'the other version takes the rest', parserOf('<percent>', wholeNumber(0, 100)))
    .action(bind(weigh));
  on('rollback', 'give all jobs to the older of two versions').action(bind(rollBack));
  on('end-version', 'end a version; the other one takes its jobs')
    .argument('<version>', 'its number')
    .action(bind(endVersion));
  on('starts', 'how long its workers took to start, by phase').action(bind(starts));
  paged(on('changes', 'what was done to a deployment, the latest first')).action(bind(changes));
  program.command('engine-classes').description('what deployments can run on, and what it costs').action(bind(classes));
}

function scaled(command: Command): Command {
  const { min_workers: min, max_workers: max, idle_seconds: idle, ...limits } = DEPLOYMENT_LIMITS;
  const { queue_limit: queued, attempt_limit_seconds: attempted } = limits;
  const number = (flag: string, shape: string, text: string, { least, most }: Bounds): void => {
    command.option(`${flag} ${shape}`, text, parserOf(flag, wholeNumber(least, most)));
  };
  number('--min-workers', '<number>', 'workers kept warm', min);
  number('--max-workers', '<number>', 'workers at most', max);
  number('--idle', '<seconds>', 'how long workers without work are kept', idle);
  const queue = parserOf('--queue-limit', limitOrDefault(queued.least, queued.most));
  const attempt = parserOf('--attempt-limit', limitOrDefault(attempted.least, attempted.most));
  const warmUp = parserOf('--warm-up', graphFileOrNone);
  const models = parserOf('--models', modelsOrNone);
  return command
    .option('--queue-limit <number|default>', 'jobs that wait in it', queue)
    .option('--attempt-limit <seconds|default>', 'how long an attempt may take', attempt)
    .option('--warm-up <file|none>', 'a graph that its workers run before they are ready', warmUp)
    .option('--models <folder/name,...|none>', 'models that its workers have before they are ready', models);
}

/** Only what is given is in it. */
function bodyOf(flags: ScaleFlags): Record<string, unknown> {
  const body = {
    name: flags.name,
    engine_class: flags.class,
    min_workers: flags.minWorkers,
    max_workers: flags.maxWorkers,
    idle_seconds: flags.idle,
    queue_limit: flags.queueLimit,
    attempt_limit_seconds: flags.attemptLimit,
    warm_up: flags.warmUp,
    models: flags.models,
  };
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
}

async function list(context: CommandContext): Promise<void> {
  const { api } = await context.clients();
  printAll(context, await api.answer(api.platform('/deployments')), 'No deployments.', LISTED.deployments);
}

async function get(context: CommandContext, id: string): Promise<void> {
  const { api } = await context.clients();
  printOne(context, await api.answer(api.platform(pathOf(id))));
}

async function create(context: CommandContext, name: string, engineClass: string, flags: ScaleFlags): Promise<void> {
  const { api } = await context.clients();
  const json = bodyOf({ ...flags, name, class: engineClass });
  printOne(context, await api.answer(api.platform('/deployments'), { method: 'POST', json }));
}

async function update(context: CommandContext, id: string, flags: ScaleFlags): Promise<void> {
  const json = bodyOf(flags);
  if (Object.keys(json).length === 0) {
    throw new UsageFailure(
      'Nothing was named to change.',
      'Give at least one flag, such as --max-workers 2 or --name portraits.',
    );
  }
  const { api } = await context.clients();
  printOne(context, await api.answer(api.platform(pathOf(id)), { method: 'PATCH', json }));
}

async function act(context: CommandContext, id: string, verb: 'start' | 'stop'): Promise<void> {
  const { api } = await context.clients();
  printOne(context, await api.answer(api.platform(`${pathOf(id)}/${verb}`), { method: 'POST' }));
}

async function remove(context: CommandContext, id: string, { drain }: { drain?: boolean }): Promise<void> {
  const { api } = await context.clients();
  const url = api.platform(pathOf(id));
  if (drain) url.searchParams.set('drain', 'true');
  await api.text(url, { method: 'DELETE' });
  context.print({ deleted: id, drain: drain === true }, () => [`${drain ? 'draining' : 'deleted'} ${plainLine(id)}`]);
}

async function versions(context: CommandContext, id: string): Promise<void> {
  const { api } = await context.clients();
  printAll(context, await api.answer(api.platform(`${pathOf(id)}/versions`)), 'No versions.');
}

async function addVersion(
  context: CommandContext,
  id: string,
  { weight, ...flags }: ScaleFlags & { weight?: number },
): Promise<void> {
  const json = { ...bodyOf(flags), ...(weight !== undefined && { weight }) };
  await onVersions(context, `${pathOf(id)}/versions`, { method: 'POST', json });
}

async function weigh(context: CommandContext, id: string, version: string, weight: number): Promise<void> {
  await onVersions(context, versionPath(id, version), { method: 'PATCH', json: { weight } });
}

async function rollBack(context: CommandContext, id: string): Promise<void> {
  await onVersions(context, `${pathOf(id)}/rollback`, { method: 'POST' });
}

async function endVersion(context: CommandContext, id: string, version: string): Promise<void> {
  await onVersions(context, versionPath(id, version), { method: 'DELETE' });
}

async function onVersions(context: CommandContext, path: string, options: CallOptions): Promise<void> {
  const { api } = await context.clients();
  printAll(context, await api.answer(api.platform(path), options), 'No versions.');
}

/** As JSON it is the answer's own text: it has the graph of a warm-up. */
function printOne(context: CommandContext, { value, text }: JsonAnswer): void {
  if (context.asJson) context.printer.jsonText(text);
  else context.printRecord(value);
}

function printAll(context: CommandContext, { value, text }: JsonAnswer, none: string, first?: readonly string[]): void {
  if (context.asJson) context.printer.jsonText(text);
  else context.printRecords(value, none, first);
}

function versionPath(id: string, version: string): string {
  return `${pathOf(id)}/versions/${encodeURIComponent(version)}`;
}

async function starts(context: CommandContext, id: string): Promise<void> {
  const { api } = await context.clients();
  context.printRecords(await api.json(api.platform(`${pathOf(id)}/starts`)), 'None of its workers has been ready yet.');
}

async function changes(context: CommandContext, id: string, flags: PageFlags): Promise<void> {
  const { api } = await context.clients();
  context.printRecords(
    await api.json(pageOf(api.platform(`${pathOf(id)}/changes`), flags)),
    'Nothing was done to it.',
    LISTED.acts,
  );
}

async function classes(context: CommandContext): Promise<void> {
  const { api } = await context.clients();
  context.printRecords(await api.json(api.platform('/engine-classes')), 'No engine classes are offered.');
}

function pathOf(id: string): string {
  return `/deployments/${encodeURIComponent(id)}`;
}

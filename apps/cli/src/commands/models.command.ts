import { basename } from 'node:path';
import type { Command } from 'commander';
import type { ModelRecord } from '../client';
import { type ExitCode, interruptible, UsageFailure } from '../process';
import { type Cell, showTransfer, size, tableLines } from '../terminal';
import type { Bind, CommandContext } from './command-context';
import { deletedInTurn } from './in-turn';

interface FileFlags {
  name?: string;
  licence?: string;
}

interface UploadFlags extends FileFlags {
  source?: string;
}

interface ImportFlags extends FileFlags {
  hash?: string;
}

const FOLDER = "the engine's folder: checkpoints, loras, vae, ...";

export function addModels(program: Command, bind: Bind): void {
  const models = program.command('models').description('the files of weights that your graphs name');
  models
    .command('list')
    .description('your models, and those that every account may use')
    .option('--folder <folder>', 'only those in this folder')
    .action(bind(list));
  models.command('show').description('one model').argument('<model>', 'its id').action(bind(show));
  models
    .command('upload')
    .description('upload a file of weights; an upload that broke off goes on')
    .argument('<file>')
    .argument('<folder>', FOLDER)
    .option('--name <path>', "its path below the folder; by default the file's name")
    .option('--licence <text>', 'the licence of the weights')
    .option('--source <url>', 'where the weights are from')
    .action(bind(upload));
  models
    .command('import')
    .description('have the service fetch a file of weights')
    .argument('<url>')
    .argument('<folder>', FOLDER)
    .option('--name <path>', 'its path below the folder; by default the last part of the URL')
    .option('--hash <hash>', 'what it must have: blake3:<64 digits> or sha256:<64 digits>')
    .option('--licence <text>', 'the licence of the weights')
    .action(bind(importOne));
  models.command('delete').description('delete models').argument('<models...>', 'their ids').action(bind(remove));
}

async function list(context: CommandContext, { folder }: { folder?: string }): Promise<void> {
  const { models } = await context.clients();
  const found = await models.list(folder);
  const titles = ['model', 'file', 'size', 'kind', 'state'];
  context.printTable({ models: found }, titles, found.map(rowOf), 'No models.');
}

function rowOf(model: ModelRecord): Cell[] {
  const bytes = model.size_bytes === null ? '' : size(model.size_bytes);
  const state = model.shared ? `${model.state}, shared` : model.state;
  return [model.id, `${model.folder}/${model.name}`, { text: bytes, align: 'right' }, model.kind ?? '', state];
}

async function show(context: CommandContext, id: string): Promise<void> {
  const { models } = await context.clients();
  context.printRecord(await models.get(id));
}

async function upload(context: CommandContext, file: string, folder: string, flags: UploadFlags): Promise<void> {
  const { models } = await context.clients();
  const { name = basename(file), licence, source: sourceUrl } = flags;
  const fields = { folder, name, licence, sourceUrl };
  const model = await interruptible(context.host, (signal) =>
    showTransfer(context.host, file, (watcher) => models.upload(file, fields, { signal, watcher })),
  );
  context.print(model, () => tableLines([rowOf(model)]));
}

async function importOne(context: CommandContext, url: string, folder: string, flags: ImportFlags): Promise<void> {
  const { models } = await context.clients();
  const { name = nameOf(url), licence, hash } = flags;
  const model = await models.import({ folder, name, licence }, url, hash);
  context.print(model, () => tableLines([rowOf(model)]));
}

async function remove(context: CommandContext, ids: string[]): Promise<ExitCode> {
  const { models } = await context.clients();
  return deletedInTurn(context, ids, (id) => models.remove(id));
}

function nameOf(url: string): string {
  const name = URL.canParse(url) ? basename(decodeURIComponent(new URL(url).pathname)) : '';
  if (name !== '') return name;
  throw new UsageFailure(`${url} names no file.`, 'Give its name with --name.');
}

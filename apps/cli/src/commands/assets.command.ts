import { stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { EXPIRES_IN_SECONDS } from '@millrace/contracts';
import type { Command } from 'commander';
import type { AssetRecord } from '../client';
import { type ExitCode, interruptible } from '../process';
import { age, type Cell, moment, showTransfer, size, tableLines } from '../terminal';
import type { Bind, CommandContext } from './command-context';
import { deletedInTurn, inTurn } from './in-turn';
import { collect, parserOf, wholeNumber } from './values/typed-value';

interface PutFlags {
  contentType?: string;
  tag?: string[];
  expiresIn?: number;
}

interface ListFlags {
  outputs?: boolean;
  type?: string;
  limit: number;
}

interface GetFlags {
  output?: string;
}

/** Bytes on standard output, and nothing else. */
const STDOUT: readonly string[] = ['-', '/dev/stdout'];
const EXPIRES_IN = wholeNumber(EXPIRES_IN_SECONDS.min, EXPIRES_IN_SECONDS.max, 'seconds');

export function addAssets(program: Command, bind: Bind): void {
  const assets = program.command('assets').description('list, upload, download and delete files');
  assets
    .command('ls')
    .description('the newest uploads')
    .option('--outputs', 'what jobs made instead')
    .option('--type <prefix>', 'only files whose media type begins so, e.g. image/')
    .option('--limit <number>', 'how many at most', parserOf('--limit', wholeNumber(1, 999_999)), 20)
    .action(bind(list));
  assets
    .command('put')
    .description('upload files and print their ids')
    .argument('<files...>')
    .option('--content-type <type>', 'their media type; by default derived from the name')
    .option('--tag <tag>', 'tag them', collect)
    .option('--expires-in <seconds>', 'delete them after this time', parserOf('--expires-in', EXPIRES_IN))
    .action(bind(put));
  assets
    .command('get')
    .description('download a file; its bytes are verified against their hash')
    .argument('<asset>', 'the id of an asset or of an output')
    .option(
      '-o, --output <path>',
      'a file (replaced if it exists), a device or a pipe, or a folder; - writes to standard output',
    )
    .action(bind(get));
  assets.command('rm').description('delete assets').argument('<assets...>').action(bind(remove));
}

async function list(context: CommandContext, { outputs, type, limit }: ListFlags): Promise<void> {
  const { assets } = await context.clients();
  const found = await assets.list({ limit, kind: outputs ? 'output' : 'upload', contentType: type });
  const rows = found.map((asset) => listRow(asset, context));
  context.printTable({ assets: found }, ['asset', 'file', 'type', 'size', 'created', 'expires'], rows, 'No files.');
}

function listRow(asset: AssetRecord, { host, printer }: CommandContext): Cell[] {
  const nowMs = host.nowMs();
  const expires = asset.expires_at ?? 'never';
  return [
    asset.id,
    asset.file_path ?? '',
    asset.content_type,
    { text: size(asset.size_bytes), align: 'right' },
    age(asset.created_at, nowMs),
    printer.columns === null ? expires : moment(expires, nowMs),
  ];
}

async function put(context: CommandContext, files: string[], flags: PutFlags): Promise<ExitCode> {
  const { assets } = await context.clients();
  const fields = { contentType: flags.contentType, tags: flags.tag, expiresInSeconds: flags.expiresIn };
  const one = (file: string): Promise<AssetRecord> =>
    interruptible(context.host, (signal) =>
      showTransfer(context.host, file, (watcher) => assets.upload(file, { ...fields, signal, watcher })),
    );
  const lines = (record: AssetRecord, file: string): string[] =>
    tableLines([[record.id, file, size(record.size_bytes), record.hash ?? '']]);
  return inTurn(context, files, { field: 'assets', one, lines });
}

async function get(context: CommandContext, id: string, { output = '.' }: GetFlags): Promise<void> {
  const { assets, downloads } = await context.clients();
  const record = await assets.get(id);
  const wanted = { ...record, name: record.file_path ?? basename(new URL(record.url).pathname) };
  if (STDOUT.includes(output)) return downloads.pipeTo(context.host.stdout, wanted);
  const isFolder = output.endsWith('/') || (await stat(output).catch(() => null))?.isDirectory() === true;
  const { path, hash, sizeBytes } = await interruptible(context.host, (signal) =>
    isFolder ? downloads.saveInto(join(output), wanted, signal) : downloads.saveTo(output, wanted, signal),
  );
  context.print({ asset: record, path, hash }, () => tableLines([[path, record.content_type, size(sizeBytes), hash]]));
}

async function remove(context: CommandContext, ids: string[]): Promise<ExitCode> {
  const { assets } = await context.clients();
  return deletedInTurn(context, ids, (id) => assets.remove(id));
}

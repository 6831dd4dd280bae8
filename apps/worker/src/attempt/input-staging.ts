import { open } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import { BlobStoreError, ByteMeter, type AssetRecord } from '@millrace/assets';
import { Refusal } from '@millrace/contracts';
import type { InputFile } from '@millrace/engines';
import type { JobFailure } from '@millrace/jobs';
import { backoffMs } from '@millrace/platform';
import { assetReferences, replaceAssetReferences, type WorkflowGraph } from '@millrace/workflow';
import { OutOfReach } from './out-of-reach';
import { storeReasonOf } from './store-reason';

/** In a row that brought nothing, or bytes that are not the input's. */
const TRIES = 4;
const RETRY_BASE_MS = 250;
const RETRY_CAP_MS = 4_000;

/** Where the bytes of inputs come from. */
export interface InputSource {
  /**
   * @param from the position of the first byte of the body; it is empty where that is the end.
   * @param signal aborts when nobody needs it any more.
   * @throws Refusal `not_found`, `content_lost`; BlobStoreError; OutOfReach, as the body does.
   */
  openInput(
    accountId: string,
    id: string,
    from?: number,
    signal?: AbortSignal,
  ): Promise<{ asset: InputAsset; body: Readable }>;
  /**
   * The bytes that came have another hash: look where they lie.
   *
   * @returns whether they are damaged there, and their owner is answered so from now on.
   * @throws Refusal `not_found`; BlobStoreError; OutOfReach.
   */
  doubtInput(accountId: string, id: string): Promise<boolean>;
}

/** What is to be known of an input to bring its bytes. */
export interface InputAsset extends Pick<AssetRecord, 'filePath' | 'contentType'> {
  /** `hash`: `blake3:<hex>`; null where a gateway of another version does not say it. */
  blob: { hash: string | null };
}

/** Bytes that are sound where they lie arrived as others. */
class Garbled extends Error {}

/** A workflow as the engine takes it: its inputs on disk, its asset references replaced by their names. */
export interface StagedInputs {
  graph: WorkflowGraph;
  inputs: InputFile[];
}

/** The inputs could not be brought to the worker; `failure` is for the job's owner. */
export class InputNotStaged extends Error {
  constructor(readonly failure: JobFailure) {
    super(failure.message);
    this.name = 'InputNotStaged';
  }
}

/**
 * Bring every asset that a graph refers to into the folder that `makeFolder` makes, where there is any. Numbers, key order and escapes of the graph stay as submitted.
 *
 * @param signal aborting ends the staging with an error.
 * @throws InputNotStaged when an asset is gone, its bytes are lost or damaged, or the blob store stays away; OutOfReach when this worker
 * does not reach them.
 */
export async function stageInputs(
  content: InputSource,
  accountId: string,
  graph: WorkflowGraph,
  makeFolder: () => Promise<string>,
  signal: AbortSignal,
): Promise<StagedInputs> {
  const { references } = assetReferences(graph);
  if (references.length === 0) return { graph, inputs: [] };
  const folder = await makeFolder();
  const inputs = new Map<string, InputFile>();
  for (const { id, nodeId } of references) {
    if (!inputs.has(id)) inputs.set(id, await stageOne(content, accountId, id, nodeId, folder, signal));
  }
  const replacements = references.map(({ start, end, id }) => ({ start, end, value: inputs.get(id)?.name ?? '' }));
  return { graph: replaceAssetReferences(graph, replacements), inputs: [...inputs.values()] };
}

async function stageOne(
  content: InputSource,
  accountId: string,
  id: string,
  nodeId: string,
  folder: string,
  signal: AbortSignal,
): Promise<InputFile> {
  let meter = new ByteMeter(Number.MAX_SAFE_INTEGER);
  let garbled = 0;
  for (let failures = 0; ;) {
    const from = meter.sizeBytes;
    try {
      signal.throwIfAborted();
      const { asset, body } = await content.openInput(accountId, id, from, signal);
      const name = `${id}${extensionOf(asset.filePath)}`;
      const path = join(folder, name);
      await append(path, from, addAbortSignal(signal, body), meter);
      const { hash } = asset.blob;
      if (hash !== null && meter.finish().hash !== hash) await doubted(content, accountId, id);
      return { name, path, contentType: asset.contentType };
    } catch (error) {
      failures = meter.sizeBytes > from ? 1 : failures + 1;
      if (error instanceof Garbled) {
        meter = new ByteMeter(Number.MAX_SAFE_INTEGER);
        garbled += 1;
        failures = garbled;
      }
      if (!isPassing(error) || signal.aborted || failures >= TRIES) throw unavailable(id, nodeId, error);
      await new Promise((resolve) => setTimeout(resolve, backoffMs(failures - 1, RETRY_BASE_MS, RETRY_CAP_MS)));
    }
  }
}

function isPassing(error: unknown): boolean {
  if (error instanceof BlobStoreError) return error.fault === 'unreachable';
  return error instanceof Garbled || error instanceof OutOfReach;
}

/**
 * Write bytes behind the first `from` ones of a file; those that the meter has counted are in the file, however it ends.
 *
 * @throws BlobStoreError when the bytes break off; what the disk says.
 */
async function append(path: string, from: number, body: Readable, meter: ByteMeter): Promise<void> {
  const file = await open(path, from === 0 ? 'w' : 'a').catch((error: unknown) => {
    body.destroy();
    throw error;
  });
  try {
    for await (const chunk of bytesOf(body)) {
      await file.appendFile(chunk);
      meter.add(chunk);
    }
  } finally {
    await file.close();
  }
}

/** @throws BlobStoreError `unreachable` when they break off, for any reason that is not said: the disk of this machine is none. */
async function* bytesOf(body: Readable): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) yield chunk;
  } catch (error) {
    if (error instanceof BlobStoreError || error instanceof OutOfReach) throw error;
    throw new BlobStoreError('unreachable', 'The bytes of an input broke off.', { cause: error });
  }
}

/** @throws Refusal `content_lost` when the bytes are damaged where they lie, else Garbled. */
async function doubted(content: InputSource, accountId: string, id: string): Promise<never> {
  if (!(await content.doubtInput(accountId, id))) throw new Garbled('the bytes arrived damaged');
  throw new Refusal('content_lost', `The bytes of asset ${id} are damaged.`);
}

/** Engines go by extensions; anything unusual in one is left out. */
function extensionOf(filePath: string | null): string {
  const extension = extname(filePath ?? '').toLowerCase();
  return /^\.[a-z0-9]{1,10}$/.test(extension) ? extension : '';
}

function unavailable(id: string, nodeId: string, error: unknown): unknown {
  const reason = reasonOf(error);
  if (reason === null) return error;
  const message = `The input asset ${id} could not be read: ${reason}.`;
  return new InputNotStaged({ code: 'input_unavailable', message, node_id: nodeId });
}

/** @returns null for what is no fault of the input or the store. */
function reasonOf(error: unknown): string | null {
  if (error instanceof Garbled) return 'its bytes arrived damaged';
  if (error instanceof BlobStoreError) return storeReasonOf(error);
  if (!(error instanceof Refusal)) return null;
  if (error.code !== 'content_lost') return 'it does not exist any more';
  return 'its bytes are lost or damaged; upload the file again, or run the job again that made it';
}

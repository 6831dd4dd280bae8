import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { addAbortSignal, type Readable } from 'node:stream';
import { assertAssetId, type Clients, type Job, type SubmitOptions, sizeOf, unreadable } from '../client';
import { type InterruptGuard, knownOutcome } from '../follow';
import { assetReference, GraphText, type InputPlace, valueJson } from '../graph';
import { type Host, Interrupted, ServiceRefusal } from '../process';
import { type Palette, plainLine, showTransfer, size } from '../terminal';
import { parseAssignment, parseLabels } from './values/assignment';
import { idempotencyKey } from './values/typed-value';

/** The flags that make the body of a submission of a graph. */
export interface GraphFlags {
  input?: string[];
  set?: string[];
  label?: string[];
}

/** The flags of a submission. */
export interface SubmitFlags extends GraphFlags {
  idempotencyKey?: string;
  /** The header `Millrace-Retry`; the service checks it. */
  retry?: string;
  /** The header `Millrace-Reuse`. */
  reuse?: string;
  /** The most that the job may cost, in micro-credits. */
  spendLimit?: number;
  /** For how many seconds in all a refusal with a time to wait (429) is retried. */
  maxWait: number;
}

export interface SubmitTools {
  host: Host;
  clients: Clients;
  guard: InterruptGuard;
  paint: Palette;
  note: (line: string) => void;
  /** What there is to say at Ctrl-C before anything was submitted. */
  interrupted: string;
  /** Called once the command line is checked, before anything is sent. */
  prepare: () => Promise<void>;
}

/** A value of `--input` with this prefix names an asset that was uploaded before. */
const ASSET_PREFIX = 'asset:';

/**
 * Reads a graph, uploads what its inputs name, puts values in place and submits it.
 *
 * @throws {UsageFailure} before anything is sent, for everything that can be checked here
 * @throws {ServiceRefusal | ServiceFailure}
 */
export async function submitGraph(path: string, flags: SubmitFlags, tools: SubmitTools): Promise<Job> {
  const key = idempotencyKey(flags.idempotencyKey ?? randomUUID());
  const { body, graph } = await submissionOf(path, flags, tools);
  const job = submitWithRetries(
    body,
    { key, retry: flags.retry, reuse: flags.reuse, spendLimitMicros: flags.spendLimit },
    flags.maxWait,
    tools,
  );
  return job.catch((error: unknown) => {
    if (error instanceof ServiceRefusal) error.nodeClasses = graph.classes();
    throw error;
  });
}

/**
 * The body of a submission: the graph with its values in place, after what its inputs name is uploaded.
 *
 * @throws {UsageFailure} before anything is sent, for everything that can be checked here
 * @throws {ServiceRefusal | ServiceFailure}
 */
export async function submissionOf(
  path: string,
  flags: GraphFlags,
  tools: SubmitTools,
): Promise<{ body: string; graph: GraphText }> {
  const labels = parseLabels(flags.label ?? []);
  const text = await readInput(path, tools.host, tools.guard.signal).catch((error: unknown) => {
    throw tools.guard.signal.aborted ? new Interrupted(tools.interrupted) : error;
  });
  const graph = GraphText.parse(text, path === '-' ? 'The graph' : path);
  const inputs = (flags.input ?? []).map((text) => parseAssignment(text, '--input'));
  const files = inputs.map(({ target, value }) => ({ place: graph.place(target), value }));
  for (const { target, value, asJson } of (flags.set ?? []).map((text) => parseAssignment(text, '--set'))) {
    const place = graph.place(target);
    graph.set(place, valueJson(place.value, value, asJson));
    noteAddition(place, tools);
  }
  for (const { value } of files) await assertUsable(value);
  await tools.prepare();
  const uploaded = new Map<string, string>();
  for (const { place, value } of files) {
    const id = uploaded.get(value) ?? (await assetId(value, tools));
    uploaded.set(value, id);
    graph.set(place, assetReference(id));
    noteAddition(place, tools);
  }
  const metadata = labels.length > 0 ? `,"metadata":${JSON.stringify(Object.fromEntries(labels))}` : '';
  return { body: `{"workflow":${graph.toString()}${metadata}}`, graph };
}

/** An input that the graph leaves to its default may be given, but a name with a typing error looks the same. */
function noteAddition({ nodeId, field, value }: InputPlace, { note }: SubmitTools): void {
  if (value === undefined) note(plainLine(`node ${nodeId} had no input ${JSON.stringify(field)}; added`));
}

/** @throws {UsageFailure} unless it is a file that can be uploaded, or the id of an asset. */
async function assertUsable(value: string): Promise<void> {
  if (value.startsWith(ASSET_PREFIX)) assertAssetId(value.slice(ASSET_PREFIX.length));
  else await sizeOf(value);
}

/**
 * The text of a file, or with `-` of standard input.
 *
 * @throws {UsageFailure} when it cannot be read, and an `AbortError` where `signal` aborts.
 */
export async function readInput(path: string, { stdin }: Pick<Host, 'stdin'>, signal?: AbortSignal): Promise<string> {
  if (path !== '-') return readFile(path, 'utf8').catch((error: unknown) => Promise.reject(unreadable(path, error)));
  if (signal) addAbortSignal(signal, stdin as Readable);
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}

async function assetId(value: string, { host, clients, guard, paint, note }: SubmitTools): Promise<string> {
  if (value.startsWith(ASSET_PREFIX))
    return (await clients.assets.get(value.slice(ASSET_PREFIX.length), guard.signal)).id;
  const { signal } = guard;
  const asset = await showTransfer(host, value, (watcher) => clients.assets.upload(value, { signal, watcher }));
  const known = asset.created_new === false ? ', already at the service' : '';
  note(`${paint.accent('↑')} ${plainLine(value)}  ${paint.faint(`${size(asset.size_bytes)}${known}`)}`);
  return asset.id;
}

/** Sends the same request under the same key again while it is refused with a time to wait (contract, 7.2). */
async function submitWithRetries(
  body: string,
  options: SubmitOptions,
  maxWaitSeconds: number,
  tools: SubmitTools,
): Promise<Job> {
  const cure =
    'Whether a job was created is not known. See `millrace jobs ls`; ' +
    `submitting again with --idempotency-key ${options.key} creates no second one.`;
  const { host, clients, guard, note, interrupted } = tools;
  const untilMs = host.nowMs() + maxWaitSeconds * 1000;
  for (let said = ''; ;) {
    if (guard.isPressed) throw new Interrupted(interrupted);
    try {
      return await knownOutcome(guard, cure, () => clients.jobs.submit(body, options));
    } catch (error) {
      const seconds = error instanceof ServiceRefusal ? error.facts.retryAfterSeconds : undefined;
      if (!(error instanceof ServiceRefusal) || seconds === undefined) throw error;
      if (host.nowMs() + seconds * 1000 > untilMs) throw error;
      if (error.code !== said) note(`${plainLine(error.message)} Retrying when the service asks to.`);
      said = error.code;
      await host.wait(seconds * 1000, guard.signal).catch((aborted: unknown) => {
        if (!guard.signal.aborted) throw aborted;
      });
    }
  }
}

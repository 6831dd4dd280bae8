import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { assertAssetId, type Job, sizeOf, unreadable } from '../client';
import type { InterruptGuard } from '../follow';
import { assetReference, GraphText, valueJson } from '../graph';
import { type Host, Interrupted, ServiceFailure, ServiceRefusal, wasNotSent } from '../process';
import { type Palette, plainLine, size } from '../terminal';
import { parseAssignment, parseLabels } from './assignment';
import type { Clients } from './command-context';
import { idempotencyKey } from './typed-value';

/** What the command line says about a submission. */
export interface SubmitFlags {
  input?: string[];
  set?: string[];
  label?: string[];
  idempotencyKey?: string;
  /** Seconds that refusals which ask to wait (429) are waited out. */
  maxWait: number;
}

export interface SubmitTools {
  host: Host;
  clients: Clients;
  guard: InterruptGuard;
  paint: Palette;
  note: (line: string) => void;
  /** Called when everything that was typed is right, before anything is sent. */
  prepare: () => Promise<void>;
}

/** Files given to inputs start with this when they are at the service already. */
const ASSET_PREFIX = 'asset:';

/**
 * Reads a graph, uploads what its inputs name, puts values in place and submits it.
 *
 * @throws {UsageFailure} before anything is sent, for whatever can be seen to be wrong here
 * @throws {ServiceRefusal | ServiceFailure}
 */
export async function submitGraph(path: string, flags: SubmitFlags, tools: SubmitTools): Promise<Job> {
  const labels = parseLabels(flags.label ?? []);
  const key = idempotencyKey(flags.idempotencyKey ?? randomUUID());
  const graph = GraphText.parse(await readGraph(path, tools.host), path === '-' ? 'The graph' : path);
  const inputs = (flags.input ?? []).map((text) => parseAssignment(text, '--input'));
  const files = inputs.map(({ target, value }) => ({ place: graph.place(target), value }));
  for (const { target, value, asJson } of (flags.set ?? []).map((text) => parseAssignment(text, '--set'))) {
    const place = graph.place(target);
    graph.set(place, valueJson(place.value, value, asJson));
  }
  for (const { value } of files) await assertUsable(value);
  await tools.prepare();
  const uploaded = new Map<string, string>();
  for (const { place, value } of files) {
    const id = uploaded.get(value) ?? (await assetId(value, tools));
    uploaded.set(value, id);
    graph.set(place, assetReference(id));
  }
  const metadata = labels.length > 0 ? `,"metadata":${JSON.stringify(Object.fromEntries(labels))}` : '';
  const job = submitPatiently(`{"workflow":${graph.toString()}${metadata}}`, key, flags.maxWait, tools);
  return job.catch((error: unknown) => {
    if (error instanceof ServiceRefusal) error.nodeClasses = graph.classes();
    throw error;
  });
}

/** @throws {UsageFailure} for what is no file that can be uploaded, and no id of an asset. */
async function assertUsable(value: string): Promise<void> {
  if (value.startsWith(ASSET_PREFIX)) assertAssetId(value.slice(ASSET_PREFIX.length));
  else await sizeOf(value);
}

async function readGraph(path: string, host: Host): Promise<string> {
  if (path !== '-') return readFile(path, 'utf8').catch((error: unknown) => Promise.reject(unreadable(path, error)));
  const chunks: Buffer[] = [];
  for await (const chunk of host.stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}

async function assetId(value: string, { clients, guard, paint, note }: SubmitTools): Promise<string> {
  if (value.startsWith(ASSET_PREFIX))
    return (await clients.assets.get(value.slice(ASSET_PREFIX.length), guard.signal)).id;
  const asset = await clients.assets.upload(value, { signal: guard.signal });
  const known = asset.created_new === false ? ', known to the service' : '';
  note(`${paint.accent('↑')} ${plainLine(value)}  ${paint.faint(`${size(asset.size_bytes)}${known}`)}`);
  return asset.id;
}

/** Sends the same request under the same key for as long as it is refused with a time to wait (contract, 7.2). */
async function submitPatiently(body: string, key: string, maxWaitSeconds: number, tools: SubmitTools): Promise<Job> {
  const { host, clients, guard, note } = tools;
  const untilMs = host.nowMs() + maxWaitSeconds * 1000;
  for (let said = ''; ;) {
    if (guard.isPressed) throw new Interrupted('Interrupted; no job was created.');
    try {
      return await guard.submitting(() => clients.jobs.submit(body, key));
    } catch (error) {
      if (guard.signal.aborted)
        throw unknownOutcome(new Interrupted('Interrupted while the job was being submitted.'), key);
      if (error instanceof ServiceFailure) throw wasNotSent(error) ? error : unknownOutcome(error, key);
      const seconds = error instanceof ServiceRefusal ? error.facts.retryAfterSeconds : undefined;
      if (!(error instanceof ServiceRefusal) || seconds === undefined) throw error;
      if (host.nowMs() + seconds * 1000 > untilMs) throw error;
      if (error.code !== said) note(`${plainLine(error.message)} Trying again for as long as the service asks.`);
      said = error.code;
      await host.wait(seconds * 1000, guard.signal);
    }
  }
}

/** A submission without an answer may have created a job (contract, 4.1, rule 5). */
function unknownOutcome<T extends Interrupted | ServiceFailure>(failure: T, key: string): T {
  failure.facts.cure =
    `Whether a job was created is not known. Look with \`millrace jobs ls\`; ` +
    `sending it again with --idempotency-key ${key} creates no second one.`;
  return failure;
}

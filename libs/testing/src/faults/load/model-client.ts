import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { blake3 } from '@napi-rs/blake-hash';
import type pg from 'pg';
import { isTerminal, type Job } from '@millrace/contracts';
import type { History } from './history';
import { LoadCalls, type LoadTarget } from './load-calls';
import type { Random } from '../random';
import { verdictOf, type Verdict } from '../verdict-of';

const POLL_MS = 200;
const PART_TRIES = 20;
const FOLDER = 'checkpoints';

/** A model of the library, and the hash of the output that shows which content an engine has loaded. */
interface Model {
  name: string;
  shown: string;
}

interface JobRow {
  id: string;
  label: string;
  status: string;
  code: string | null;
  /** Hashes of its outputs. */
  shown: string | null;
}

interface OpenUpload {
  id: string;
  upload: { part_size_bytes: number; parts: { number: number; url: string }[] };
}

/** One client under way whose jobs name models that only the library has. It records only what it was answered. */
export class ModelClient {
  private readonly calls: LoadCalls;
  /** What the job of a label must have been run with. */
  private readonly expected = new Map<string, string>();

  private constructor(
    private readonly name: string,
    private readonly target: LoadTarget,
    private readonly history: History,
    private readonly random: Random,
    private readonly models: readonly Model[],
  ) {
    this.calls = new LoadCalls(target, history, random);
  }

  /**
   * A client whose account has models of its own.
   *
   * @param origin where they are uploaded, before anything is harmed
   */
  static async open(
    name: string,
    origin: string,
    target: LoadTarget,
    history: History,
    random: Random,
    { count, sizeBytes }: { count: number; sizeBytes: number },
  ): Promise<ModelClient> {
    const models: Model[] = [];
    for (let nth = 1; nth <= count; nth += 1) {
      const bytes = weights(nth, sizeBytes);
      const file = `${name}/${nth}.safetensors`;
      await upload(origin, target.apiKey, file, bytes);
      const text = `model ${createHash('sha256').update(bytes).digest('hex')}`;
      models.push({ name: file, shown: `blake3:${blake3(text).toString('hex')}` });
    }
    return new ModelClient(name, target, history, random, models);
  }

  /** Go on until the signal aborts. */
  async run(until: AbortSignal): Promise<void> {
    for (let count = 1; !until.aborted; count += 1) {
      const jobId = await this.submit(`${this.name}-${count}`);
      if (jobId === null) await pause(this.random.whole(100, 500));
      else if (this.random.chance(0.7)) await this.follow(jobId, until);
    }
  }

  private async submit(label: string): Promise<string | null> {
    const model = this.random.pick(this.models);
    this.expected.set(label, model.shown);
    const submission = this.history.submission(label, this.target.accountId, `key-${label}`);
    const workflow = {
      1: { class_type: 'CheckpointLoaderSimple', inputs: { ckpt_name: model.name } },
      2: { class_type: 'PreviewAny', inputs: { source: ['1', 0] } },
    };
    const text = JSON.stringify({ workflow, metadata: { label } });
    const headers = { 'Idempotency-Key': `key-${label}` };
    const answer = await this.calls.call<Job>('POST', '/api/v2/jobs', { text, headers });
    const jobId = answer?.status === 201 ? answer.body.id : null;
    const refused = answer !== null && answer.status >= 400 && answer.status < 500;
    submission.tries.push({ outcome: jobId !== null ? 'ok' : refused ? 'refused' : 'unknown', code: null, jobId });
    if (jobId !== null && this.random.chance(0.1)) await this.calls.call('POST', `/api/v2/jobs/${jobId}/cancel`);
    return jobId;
  }

  private async follow(jobId: string, until: AbortSignal): Promise<void> {
    const deadline = Date.now() + this.random.whole(1_000, 10_000);
    while (!until.aborted && Date.now() < deadline) {
      const answer = await this.calls.call<Job>('GET', `/api/v2/jobs/${jobId}`);
      if (answer?.status === 200) this.history.saw(jobId, answer.body.status, answer.body.progress?.value ?? null);
      if (answer?.status === 200 && isTerminal(answer.body.status)) return;
      await pause(POLL_MS);
    }
  }

  /** Each job that succeeded was run with the model that it names; none failed because its models did not come. */
  async verdict(client: pg.Client): Promise<Verdict> {
    const { rows } = await client.query<JobRow>(
      `SELECT j.id::text, j.metadata ->> 'label' AS label, j.status, j.error ->> 'code' AS code,
         (SELECT string_agg(a.hash, ' ') FROM job_outputs o JOIN assets a ON a.id = o.asset_id WHERE o.job_id = j.id) AS shown
       FROM jobs j WHERE j.metadata ->> 'label' = ANY ($1)`,
      [[...this.expected.keys()]],
    );
    const broken = rows.filter(({ label, status, shown }) =>
      status === 'succeeded' ? shown !== this.expected.get(label) : status === 'failed',
    );
    return verdictOf(
      'a job runs with the models that it names',
      rows.filter(({ status }) => status === 'succeeded').length,
      broken.map(({ id, status, code, shown }) => ({
        subject: id,
        detail: `is ${status} ${code ?? ''}, made ${shown}`,
      })),
    );
  }
}

/** A file of weights with one tensor, whose bytes are its own. */
function weights(nth: number, size: number): Buffer {
  const tensor = { dtype: 'U8', shape: [size], data_offsets: [0, size] };
  const header = Buffer.from(JSON.stringify({ __metadata__: { nth: String(nth) }, 'double_blocks.0.weight': tensor }));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  return Buffer.concat([length, header, Buffer.alloc(size, nth)]);
}

async function upload(origin: string, apiKey: string, name: string, bytes: Buffer): Promise<void> {
  const call = async (path: string, body?: object): Promise<unknown> => {
    const response = await fetch(`${origin}/platform/v1/models${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`a model was refused: ${response.status} ${await response.text()}`);
    return response.json();
  };
  const opened = (await call('', { folder: FOLDER, name, size_bytes: bytes.length })) as OpenUpload;
  for (const { number, url } of opened.upload.parts) {
    const from = (number - 1) * opened.upload.part_size_bytes;
    await put(url, bytes.subarray(from, from + opened.upload.part_size_bytes));
  }
  await call(`/${opened.id}/complete`);
}

async function put(url: string, part: Buffer): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const headers = { 'content-type': 'application/octet-stream' };
    const response = await fetch(url, { method: 'PUT', body: new Uint8Array(part), headers }).catch(() => null);
    if (response?.ok) return;
    if (tries === PART_TRIES) throw new Error(`a part of a model was not stored: ${response?.status}`);
    await pause(POLL_MS);
  }
}

import request from 'supertest';
import type { Asset, ErrorEnvelope, Job } from '@millrace/contracts';
import { assertDescribed } from './api-description';
import { eventually } from './eventually';

/** An answer as it came, its body read as what the test expects. */
export interface Answer<T> {
  status: number;
  headers: Record<string, string>;
  text: string;
  body: T;
}

export interface Call {
  headers?: Record<string, string>;
  /** A body's own text: nothing parses and prints it again on the way. */
  text?: string;
  /** A body to be printed as JSON. */
  json?: unknown;
}

/**
 * A client of the HTTP contract that hides nothing: no retries, no errors thrown for a status. Every answer is held to
 * the OpenAPI document of its API in docs/: one that the document does not describe fails the test that got it.
 */
export class ApiClient {
  /**
   * @param base origin and mount prefix of a surface.
   * @param credential bearer, null for none.
   */
  constructor(
    readonly base: string,
    private readonly credential: string | null,
  ) {}

  async call<T = ErrorEnvelope>(
    method: string,
    path: string,
    { headers = {}, text, json }: Call = {},
  ): Promise<Answer<T>> {
    const test = request(this.base)[verbOf(method)](path).redirects(0).set(headers);
    if (this.credential !== null) void test.set('Authorization', `Bearer ${this.credential}`);
    if (text !== undefined) void test.set({ 'Content-Type': 'application/json', ...headers }).send(text);
    if (json !== undefined) void test.send(json as object);
    return answerOf<T>(method, path, await test);
  }

  /** Submit a body's own text. */
  submit(text: string, headers: Record<string, string> = {}): Promise<Answer<Job>> {
    return this.call<Job>('POST', '/api/v2/jobs', { text, headers });
  }

  /** Submit a graph. @throws when it is not accepted. */
  async run(workflow: object, more: object = {}): Promise<Job> {
    const { status, body, text } = await this.submit(JSON.stringify({ workflow, ...more }));
    if (status !== 201) throw new Error(`the graph was not accepted: ${status} ${text}`);
    return body;
  }

  async job(id: string): Promise<Job> {
    return (await this.call<Job>('GET', `/api/v2/jobs/${id}`)).body;
  }

  /** Wait until a job has ended. */
  async ended(id: string, withinMs = 120_000): Promise<Job> {
    const look = async (): Promise<Job | null> => {
      const job = await this.job(id);
      return job.completed_at === null ? null : job;
    };
    return eventually(`job ${id} to end`, look, withinMs);
  }

  /** Upload bytes as an asset. */
  async upload(
    bytes: Buffer,
    fields: Record<string, string>,
    headers: Record<string, string> = {},
  ): Promise<Answer<Asset>> {
    const test = request(this.base).post('/api/v2/assets').set(headers);
    if (this.credential !== null) void test.set('Authorization', `Bearer ${this.credential}`);
    for (const [name, value] of Object.entries(fields)) void test.field(name, value);
    return answerOf<Asset>('POST', '/api/v2/assets', await test.attach('file', bytes, fields.file_path ?? 'file'));
  }

  /** The bytes behind a link of the service. */
  async download(url: string): Promise<Buffer> {
    const response = await fetch(url);
    if (!response.ok) throw new Error(`${url}: ${response.status}`);
    return Buffer.from(await response.arrayBuffer());
  }
}

function answerOf<T>(method: string, path: string, response: request.Response): Answer<T> {
  const { status, text } = response;
  // Node has `Set-Cookie` as a list.
  const headers = Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, String(value)]));
  assertDescribed({ method, path, status, headers, text: text ?? null });
  return { status, headers, text, body: response.body as T };
}

const VERBS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options'] as const;

function verbOf(method: string): (typeof VERBS)[number] {
  const verb = VERBS.find((known) => known === method.toLowerCase());
  if (verb === undefined) throw new Error(`no such method: ${method}`);
  return verb;
}

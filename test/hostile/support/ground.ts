import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { Agent, request, type RequestOptions } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ApiClient, TestStack, type TestAccount } from '@millrace/testing';

const CHART = join(__dirname, '../../../helm/millrace/values.yaml');
const BYSTANDER = join(__dirname, 'bystander.mjs');
/** Of the memory of a process, what the chart gives to its heap. */
const HEAP_SHARE = 0.6;
/** A refused request is sent again no sooner: an attacker gains nothing by more of them. */
const REFUSED_PAUSE_MS = 20;
const MIB = 1_048_576;
/** What each account may spend, in micro-credits: more than it can. */
const CREDIT_MICROS = 100_000_000_000;

/** What the other account saw. */
export interface Observations {
  pollMs: number[];
  startMs: number[];
  failures: string[];
}

/** How an attack was answered. */
export interface Answered {
  status: number;
  /** Bytes of the answer's body. */
  bytes: number;
  body: string;
}

/** The limit of memory of an api process in the chart, in MiB. */
export function chartLimitMiB(): number {
  const { api } = parse(readFileSync(CHART, 'utf8')) as { api: { resources: { limits: { memory: string } } } };
  const [, number = '', unit] = /^(\d+)(Mi|Gi)$/.exec(api.resources.limits.memory) ?? [];
  if (number === '') throw new Error(`not a number of MiB: ${api.resources.limits.memory}`);
  return Number(number) * (unit === 'Gi' ? 1_024 : 1);
}

/** Where requests of one party come from in one try. Linux has all of 127.0.0.0/8. */
class Place {
  readonly agent: Agent;

  constructor(readonly address: string) {
    this.agent = new Agent({ keepAlive: true, maxSockets: 512, localAddress: address });
  }
}

/** A stack as the chart runs it, with an account that attacks and one that does not. */
export class Ground {
  readonly statuses = new Map<number, number>();
  /** Connections that were held open, and the statuses of their first answers. */
  readonly held = { connections: 0, statuses: new Map<number, number>() };
  /** Of the largest answer with an error. */
  largestError = 0;
  private readonly sockets = new Set<Socket>();
  private tries = 0;
  private attackerPlace = new Place('127.0.1.0');
  private otherPlace = new Place('127.0.2.0');

  private constructor(
    readonly stack: TestStack,
    private attacker: TestAccount,
    readonly other: TestAccount,
    private readonly otherJobId: string,
  ) {}

  static async open(): Promise<Ground> {
    const heap = Math.floor(chartLimitMiB() * HEAP_SHARE);
    const stack = await TestStack.start({ settings: { NODE_OPTIONS: `--max-old-space-size=${heap}` } });
    const [attacker, other] = [await stack.createAccount(CREDIT_MICROS), await stack.createAccount(CREDIT_MICROS)];
    const job = await new ApiClient(stack.publicUrl, other.apiKey).run({
      '1': { class_type: 'PrimitiveInt', inputs: { value: 7 } },
      '2': { class_type: 'PreviewAny', inputs: { source: ['1', 0] } },
    });
    return new Ground(stack, attacker, other, job.id);
  }

  async close(): Promise<void> {
    this.release();
    this.leave();
    await this.stack.stop();
  }

  /** Drop every connection that the attack has left. */
  release(): void {
    for (const socket of this.sockets) socket.destroy();
    this.sockets.clear();
  }

  /**
   * Begin a try: an account that has sent nothing attacks, from an address that has sent nothing, as that of the other account. Jobs of the attack before
   * are canceled. So an attack that is measured again finds its queue and its limits as it did at first. How the one before was answered is forgotten, and
   * so is the largest memory of the api process so far.
   */
  async begin(): Promise<void> {
    await this.cancelJobsOf(this.attacker.id);
    this.attacker = await this.stack.createAccount(CREDIT_MICROS);
    this.leave();
    this.tries += 1;
    this.attackerPlace = new Place(`127.0.1.${this.tries}`);
    this.otherPlace = new Place(`127.0.2.${this.tries}`);
    this.statuses.clear();
    this.held.connections = 0;
    this.held.statuses.clear();
    this.largestError = 0;
    writeFileSync(`/proc/${this.stack.api.pid}/clear_refs`, '5');
  }

  /** Close what connections are kept for the next request. */
  private leave(): void {
    this.attackerPlace.agent.destroy();
    this.otherPlace.agent.destroy();
  }

  private async cancelJobsOf(accountId: string): Promise<void> {
    const { job } = this.stack.test.database.models;
    const live = await job.findMany({ where: { accountId, delivery: { not: 'done' } }, select: { id: true } });
    for (const { id } of live) await this.stack.admin('POST', `/jobs/${id}/cancel`);
  }

  /** Submit a job that the attack is to go for. @returns its id. @throws when it is not accepted. */
  async submit(body: Buffer): Promise<string> {
    const answer = await this.send('POST', '/api/v2/jobs', body);
    if (answer.status !== 201) throw new Error(`a job to attack was answered with ${answer.status} ${answer.body}`);
    return (JSON.parse(answer.body) as { id: string }).id;
  }

  /** Send a request of the attacker and count its answer. A connection that is cut counts as status 0. */
  async send(method: string, path: string, body?: Buffer, headers: Record<string, string> = {}): Promise<Answered> {
    const all = {
      authorization: `Bearer ${this.attacker.apiKey}`,
      ...(body && { 'content-type': 'application/json', 'content-length': String(body.length) }),
      ...headers,
    };
    return this.count(await this.exchange({ method, agent: this.attackerPlace.agent, headers: all }, path, body));
  }

  /** The same, without a body, from the address of the other account. */
  async sendAsNeighbour(method: string, path: string, headers: Record<string, string>): Promise<Answered> {
    return this.count(await this.exchange({ method, agent: this.otherPlace.agent, headers }, path));
  }

  private count(answer: Answered): Answered {
    increment(this.statuses, answer.status);
    if (answer.status >= 400) this.largestError = Math.max(this.largestError, answer.bytes);
    return answer;
  }

  private exchange(options: RequestOptions, path: string, body?: Buffer): Promise<Answered> {
    return new Promise((resolve) => {
      const sent = request(`${this.stack.publicUrl}${path}`, options, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('close', () => {
          const whole = Buffer.concat(chunks);
          resolve({ status: response.statusCode ?? 0, bytes: whole.length, body: whole.toString() });
        });
      });
      sent.on('error', () => resolve({ status: 0, bytes: 0, body: '' }));
      sent.end(body);
    });
  }

  /** Do this over and over, `width` at a time, until the time is over. */
  async press(width: number, until: AbortSignal, one: () => Promise<Answered>): Promise<void> {
    const loop = async (): Promise<void> => {
      while (!until.aborted) {
        const { status } = await one();
        if (status === 429 || status === 0) await pause(REFUSED_PAUSE_MS);
      }
    };
    await Promise.all(Array.from({ length: width }, loop));
  }

  /** Open a connection, write this, read how the first answer begins and no more, and never close it. One that the service closes is opened again. */
  hold(bytes: Buffer, until: AbortSignal): void {
    if (until.aborted) return;
    const { hostname, port } = new URL(this.stack.publicUrl);
    const socket = connect({ port: Number(port), host: hostname, localAddress: this.attackerPlace.address });
    this.sockets.add(socket);
    socket.on('connect', () => (this.held.connections += 1));
    socket.once('data', (chunk: Buffer) => {
      socket.pause();
      increment(this.held.statuses, Number(/^HTTP\/1\.1 (\d{3}) /.exec(chunk.toString('latin1'))?.[1] ?? 0));
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.sockets.delete(socket);
      void pause(REFUSED_PAUSE_MS).then(() => this.hold(bytes, until));
    });
    socket.write(bytes);
  }

  /** The bytes of a request of the attacker, without a body. */
  head(method: string, path: string, headers: Record<string, string> = {}): Buffer {
    const lines = { Host: '127.0.0.1', Authorization: `Bearer ${this.attacker.apiKey}`, ...headers };
    const text = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`);
    return Buffer.from(`${method} ${path} HTTP/1.1\r\n${text.join('')}\r\n`);
  }

  /** What the other account sees from now on; call what is returned to learn it. */
  watch(): () => Promise<Observations> {
    const child = fork(BYSTANDER, [this.stack.publicUrl, this.other.apiKey, this.otherJobId, this.otherPlace.address]);
    return async () => {
      const seen = once(child, 'message') as Promise<[Observations]>;
      child.send('end');
      return (await seen)[0];
    };
  }

  /** The largest memory that the api process has had since the reset, in MiB. */
  peakMiB(): number {
    const status = readFileSync(`/proc/${this.stack.api.pid}/status`, 'utf8');
    return (Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1_024) / MIB;
  }
}

function increment(counts: Map<number, number>, status: number): void {
  counts.set(status, (counts.get(status) ?? 0) + 1);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiClient } from './api-client';
import { createTestDatabase, type TestDatabase } from './test-database';
import { TestProcess, type ProcessRole } from './test-process';
import { testRedisUrl } from './test-redis';

const ADMIN_TOKEN = 'admin-token-of-a-test';

export interface TestStackOptions {
  surface?: 'cloud' | 'self_hosted';
  workers?: number;
  /** More environment for every process. */
  settings?: Record<string, string>;
  /** Where a process reaches the stack's database, if not at its own URL. */
  databaseAt?: (url: string, role: ProcessRole) => Record<string, string>;
  /** What is done to the database before the first process starts. */
  prepare?: (url: string) => Promise<void>;
}

/** An account as a test acts through it. */
export interface TestAccount {
  id: string;
  apiKey: string;
}

/** The whole service as real processes, on a database and a pool of its own. */
export class TestStack {
  readonly workers: TestProcess[] = [];
  maintenance!: TestProcess;
  api!: TestProcess;

  private constructor(
    readonly test: TestDatabase,
    readonly env: NodeJS.ProcessEnv,
    private readonly folder: string,
    private readonly databaseAt: TestStackOptions['databaseAt'],
  ) {}

  static async start(options: TestStackOptions = {}): Promise<TestStack> {
    const test = await createTestDatabase(4);
    const folder = await mkdtemp(join(tmpdir(), 'millrace-test-'));
    const env = {
      DATABASE_URL: test.url,
      REDIS_URL: testRedisUrl(),
      // Stacks share a Redis; a pool of its own keeps the lanes apart.
      MILLRACE_POOL: `pool-${randomBytes(6).toString('hex')}`,
      MILLRACE_BLOB_DIR: join(folder, 'blobs'),
      MILLRACE_WORK_DIR: join(folder, 'work'),
      MILLRACE_SECRET_KEY: randomBytes(32).toString('base64'),
      MILLRACE_ADMIN_TOKEN: ADMIN_TOKEN,
      MILLRACE_SURFACE: options.surface ?? 'cloud',
      MILLRACE_PORT: '0',
      MILLRACE_OPS_PORT: '0',
      MILLRACE_DRAIN_SECONDS: '1',
      ...options.settings,
    };
    const stack = new TestStack(test, env, folder, options.databaseAt);
    try {
      await options.prepare?.(test.url);
      await stack.boot(options.workers ?? 1);
    } catch (error) {
      await stack.stop();
      throw error;
    }
    return stack;
  }

  private async boot(workers: number): Promise<void> {
    const starts = [
      this.spawn('api').then((api) => (this.api = api)),
      this.spawn('maintenance').then((maintenance) => (this.maintenance = maintenance)),
      ...Array.from({ length: workers }, () => this.addWorker()),
    ];
    // All of them, so that none comes up after the others were ended because one failed.
    const failed = (await Promise.allSettled(starts)).find((start) => start.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }

  /** Start one more process of the stack, for the test to end. */
  async spawn(role: ProcessRole, settings: Record<string, string> = {}): Promise<TestProcess> {
    const database = this.databaseAt?.(this.test.url, role);
    const started = await TestProcess.start(role, { ...this.env, ...database, ...settings });
    this.processes.push(started);
    return started;
  }

  async addWorker(settings: Record<string, string> = {}): Promise<TestProcess> {
    const workDir = join(this.folder, `work-${this.workers.length}-${randomBytes(4).toString('hex')}`);
    const worker = await this.spawn('worker', { MILLRACE_WORK_DIR: workDir, ...settings });
    this.workers.push(worker);
    return worker;
  }

  /** Start a worker that reaches a gateway of the stack, and nothing else of it. @param settings of it alone. */
  addRemoteWorker(gatewayUrl: string, token: string, settings: Record<string, string> = {}): Promise<TestProcess> {
    const nothing = {
      DATABASE_URL: '',
      REDIS_URL: '',
      MILLRACE_SECRET_KEY: '',
      MILLRACE_BLOB_DIR: '',
      MILLRACE_POOL: '',
      ...Object.fromEntries(Object.keys(this.env).flatMap((name) => (name.startsWith('S3_') ? [[name, '']] : []))),
    };
    const gateway = { MILLRACE_GATEWAY_URL: gatewayUrl, MILLRACE_GATEWAY_TOKEN: token };
    return this.addWorker({ ...nothing, ...gateway, ...settings });
  }

  /** The pool of the shared surface. */
  get pool(): string {
    return this.env.MILLRACE_POOL ?? '';
  }

  private readonly processes: TestProcess[] = [];

  get publicUrl(): string {
    return this.api.publicUrl;
  }

  /** Who asks the admin API, and what is answered, refusals too. */
  operator(token: string): ApiClient {
    return new ApiClient(this.api.opsUrl, token);
  }

  /** Ask the admin API. @throws when it does not answer with success. */
  async admin<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await fetch(`${this.api.opsUrl}/admin/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text) as T;
  }

  /** An account with credits and a key that may do everything. */
  async createAccount(creditMicros = 100_000_000, limits: object = {}): Promise<TestAccount> {
    const { id } = await this.admin<{ id: string }>('POST', '/accounts', { name: 'a test', ...limits });
    if (creditMicros > 0) {
      await this.admin('POST', `/accounts/${id}/credits`, { amount_micros: creditMicros, reason: 'to be spent' });
    }
    const { key } = await this.admin<{ key: string }>('POST', `/accounts/${id}/api-keys`, { name: 'a test' });
    return { id, apiKey: key };
  }

  /** End every process at once and throw the data away. */
  async stop(): Promise<void> {
    await Promise.all(this.processes.map((running) => running.end()));
    await this.test.drop();
    await rm(this.folder, { recursive: true, force: true });
  }
}

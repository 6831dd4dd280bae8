import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CORE_NODES } from './nodes/core-nodes';
import { HoldPoints } from './execution/hold-points';
import { HttpFaults, reset } from './io/http-faults';
import { ProcessAbort, SystemExit, type NodeClass } from './nodes/node-class';
import { modelNodes } from './nodes/model-nodes';
import { objectInfoText } from './nodes/object-info';
import { PromptExecutor } from './execution/prompt-executor';
import { PromptQueue } from './execution/prompt-queue';
import { ResultCache } from './execution/result-cache';
import { answer, Exchange } from './routes';
import { ServerFolders } from './io/server-folders';
import type { ServerParts } from './server-parts';
import { ServerLog } from './io/server-log';
import { Sockets } from './io/sockets';
import { TEST_NODES } from './nodes/test-nodes';
import type { SimulatedVersion } from './version';

export interface SimulatedServerOptions {
  folders: { input: string; output: string; temp: string };
  /** 0: any free one. */
  port: number;
  version: SimulatedVersion;
  /** `--preview-method` is not `none`. */
  picturesSteps: boolean;
  /** Sleeping nodes sleep as long as they say; else not at all. */
  keepsTime: boolean;
  /** Node classes beyond the built-in ones. */
  classes: Readonly<Record<string, NodeClass>>;
  /** A file that names more folders of models: `--extra-model-paths-config`. */
  modelPaths?: string | undefined;
  /** Where standard output goes, when the server is a process of its own. */
  toStdout: (text: string) => void;
  /** Ends the process, likewise. */
  abort: () => void;
}

/** One life of a simulated ComfyUI: from its start to its end, after which everything it knew is gone. */
export class SimulatedServer implements ServerParts {
  readonly queue = new PromptQueue();
  readonly folders: ServerFolders;
  readonly classes: Readonly<Record<string, NodeClass>>;
  readonly log: ServerLog;
  readonly sockets: Sockets;
  readonly faults = new HttpFaults();
  readonly holds = new HoldPoints();
  readonly posted: { promptId: string; text: string }[] = [];
  readonly interrupts: (string | null)[] = [];
  readonly jobCancels: string[] = [];
  readonly argv: string[];
  readonly version: SimulatedVersion;
  private givenInfo: string | null = null;
  /** Requests over HTTP so far. */
  requests = 0;
  private readonly interrupt = { isRaised: false };
  private readonly cache = new ResultCache();
  private readonly http: Server;
  private freed = 0;
  private lostInterrupts = 0;
  private number = 0;
  private isRunningPrompts = true;
  private readonly watchers = new Set<() => void>();
  /** The node that runs, as it is sent to a socket that reconnects. */
  private readonly current: { node: string | null } = { node: null };

  private constructor(private readonly options: SimulatedServerOptions) {
    const { classes, folders, modelPaths, toStdout, version } = options;
    this.folders = new ServerFolders(folders);
    const loaders = modelPaths === undefined ? {} : modelNodes(modelPaths);
    this.classes = { ...CORE_NODES, ...TEST_NODES, ...loaders, ...classes };
    this.version = version;
    this.argv = ['/srv/comfyui/main.py', '--output-directory', folders.output];
    this.sockets = new Sockets((clientId) => this.greet(clientId));
    this.log = new ServerLog((entries) => this.sockets.sendLog(entries), toStdout, version !== '0.3.64');
    this.http = createServer((request, response) => void this.serve(new Exchange(request, response)));
    this.http.on('upgrade', (request, socket, head) => this.sockets.accept(request, socket, head));
    void this.runPrompts();
  }

  /** The answer of `/object_info`: the classes, until a test gives another. */
  get objectInfo(): string {
    return this.givenInfo ?? objectInfoText(this.classes);
  }

  set objectInfo(text: string) {
    this.givenInfo = text;
  }

  static async start(options: SimulatedServerOptions): Promise<SimulatedServer> {
    const server = new SimulatedServer(options);
    await new Promise<void>((resolve, reject) => {
      server.http.once('error', reject).listen(options.port, '127.0.0.1', resolve);
    });
    return server;
  }

  get port(): number {
    return (this.http.address() as AddressInfo).port;
  }

  get memoryFreed(): number {
    return this.freed;
  }

  /** Ends as a killed process does: every connection is cut. */
  async kill(): Promise<void> {
    this.isRunningPrompts = false;
    this.holds.close();
    const closed = new Promise((resolve) => this.http.close(resolve));
    this.http.closeAllConnections();
    this.sockets.cut();
    await closed;
  }

  /** Resolves when a prompt has been accepted. */
  whenPosted(): Promise<void> {
    return this.when(() => this.posted.length > 0);
  }

  /** Resolves when that many requests to interrupt or cancel have come. */
  whenInterrupted(count: number): Promise<void> {
    return this.when(() => this.interrupts.length + this.jobCancels.length >= count);
  }

  /** Resolves when that many requests over HTTP have come. */
  whenAsked(count: number): Promise<void> {
    return this.when(() => this.requests >= count);
  }

  /** Resolves when nothing runs and nothing waits. */
  whenIdle(): Promise<void> {
    return this.when(() => this.queue.remaining === 0);
  }

  changed(): void {
    for (const look of this.watchers) look();
  }

  private when(isTrue: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!isTrue()) return;
        this.watchers.delete(look);
        resolve();
      };
      this.watchers.add(look);
      look();
    });
  }

  nextNumber(): number {
    return this.number++;
  }

  announce(): void {
    this.sockets.send('status', { status: { exec_info: { queue_remaining: this.queue.remaining } } }, null);
  }

  raiseInterrupt(): void {
    if (this.lostInterrupts > 0) this.lostInterrupts -= 1;
    else this.interrupt.isRaised = true;
  }

  /** The next interrupts have no effect, as around the start of a prompt. */
  loseInterrupts(count: number): void {
    this.lostInterrupts = count;
  }

  freeMemory(): void {
    this.cache.clear();
    this.freed += 1;
  }

  private greet(clientId: string): void {
    const status = { exec_info: { queue_remaining: this.queue.remaining } };
    this.sockets.send('status', { status, sid: clientId }, clientId);
    const { running } = this.queue;
    if (running?.clientId === clientId && this.current.node !== null)
      this.sockets.send('executing', this.current, clientId);
  }

  private async serve(exchange: Exchange): Promise<void> {
    this.requests += 1;
    this.changed();
    const fault = this.faults.take(exchange.request);
    if (fault === 'reset_before') return reset(exchange.response);
    if (typeof fault === 'object' && fault) return exchange.text('', fault.status);
    await this.faults.whenOpen();
    if (fault !== 'reset_after') return await answer(this, exchange);
    exchange.text = () => reset(exchange.response);
    await answer(this, exchange);
  }

  /** The one thread that runs prompts. It ends for good when a node exits. */
  private async runPrompts(): Promise<void> {
    while (this.isRunningPrompts) {
      const prompt = await this.queue.take();
      this.announce();
      const entry = await this.runPrompt(prompt).catch((error: unknown) => {
        if (!this.isRunningPrompts) return null;
        if (!(error instanceof SystemExit)) throw error;
        if (error instanceof ProcessAbort) this.options.abort();
        if (error.message !== '') this.log.write('Exception in thread Thread-1 (prompt_worker):\n');
        return null;
      });
      if (!entry) return;
      this.queue.finish(prompt, entry);
      this.announce();
      if (prompt.clientId !== null) {
        this.sockets.send('executing', { node: null, prompt_id: prompt.promptId }, prompt.clientId);
      }
      this.log.log('Prompt executed in 0.01 seconds\n', 'green');
      this.changed();
    }
  }

  private async runPrompt(prompt: Parameters<PromptQueue['finish']>[0]) {
    const { cache, classes, current, folders, holds, interrupt, log, sockets } = this;
    const { keepsTime, picturesSteps, version } = this.options;
    const parts = { cache, classes, current, folders, holds, interrupt, log, sockets };
    const server = { ...parts, picturesSteps, keepsTime, version };
    current.node = null;
    return await new PromptExecutor(server, prompt).execute();
  }
}

import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net';

/**
 * What a proxy does to the bytes that pass. `latency`: every chunk comes `ms` later. `down`: connections are refused and
 * those that stand are closed. `silence`: nothing passes and nothing is closed, as when a cable is pulled. `linger`: what
 * one side closes stays open towards the other, which goes on waiting for an answer.
 */
export type ProxyMode =
  { kind: 'open' } | { kind: 'latency'; ms: number } | { kind: 'down' } | { kind: 'silence' } | { kind: 'linger' };

/** A TCP proxy in front of one server, that misbehaves according to its mode. */
export class FaultProxy {
  private readonly links = new Set<Link>();
  private mode: ProxyMode = { kind: 'open' };
  /** Replies that are still to be cut, and how much of each passes. */
  private cuts = { left: 0, afterBytes: 0 };
  /** Replies cut so far. */
  cutCount = 0;

  private constructor(
    private readonly server: Server,
    private readonly target: { host: string; port: number },
  ) {}

  static async start(target: { host: string; port: number }): Promise<FaultProxy> {
    const server = createServer({ pauseOnConnect: true });
    const proxy = new FaultProxy(server, target);
    server.on('connection', (socket) => proxy.accept(socket));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Behave so from now on, towards connections that stand as well as new ones. */
  behave(mode: ProxyMode): void {
    this.mode = mode;
    if (mode.kind === 'down') this.endAll(false);
    for (const link of this.links) link.wake();
  }

  /** End every connection that stands with a reset. */
  reset(): void {
    this.endAll(true);
  }

  /** Cut the next `count` replies after `afterBytes` bytes: the request has arrived, and the asker never learns its fate. */
  cutReplies(count: number, afterBytes: number): void {
    this.cuts = { left: count, afterBytes };
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.endAll(true);
    await closed;
  }

  private accept(client: Socket): void {
    if (this.mode.kind === 'down') {
      client.resetAndDestroy();
      return;
    }
    const link = new Link(
      client,
      connect(this.target),
      () => this.mode,
      () => this.takeCut(),
    );
    this.links.add(link);
    void link.ended.then(() => this.links.delete(link));
  }

  private takeCut(): number | null {
    if (this.cuts.left === 0) return null;
    this.cuts.left -= 1;
    this.cutCount += 1;
    return this.cuts.afterBytes;
  }

  private endAll(reset: boolean): void {
    for (const link of this.links) link.end(reset);
  }
}

/** One connection through the proxy. */
class Link {
  readonly ended: Promise<void>;
  private settle: () => void = () => undefined;
  private over = false;
  /** Waiters for the end of a mode. */
  private waiting: (() => void)[] = [];
  /** True once the client has asked something that was not yet answered. */
  private asked = false;

  constructor(
    private readonly client: Socket,
    private readonly server: Socket,
    private readonly mode: () => ProxyMode,
    private readonly takeCut: () => number | null,
  ) {
    this.ended = new Promise((resolve) => (this.settle = resolve));
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      socket.on('error', () => void this.unless('linger').then(() => this.end(true)));
      socket.on('close', () => void this.unless('linger').then(() => this.end(false)));
    }
    void this.pump(client, server, (chunk) => this.ask(chunk));
    void this.pump(server, client, (chunk) => this.answer(chunk));
  }

  end(reset: boolean): void {
    if (this.over) return;
    this.over = true;
    for (const socket of [this.client, this.server]) {
      if (reset) socket.resetAndDestroy();
      else socket.destroy();
    }
    this.wake();
    this.settle();
  }

  wake(): void {
    for (const resume of this.waiting.splice(0)) resume();
  }

  private ask(chunk: Buffer): Buffer {
    this.asked = true;
    return chunk;
  }

  /** @returns what of a reply passes; null cuts the connection after it. */
  private answer(chunk: Buffer): Buffer | { last: Buffer } {
    const cut = this.asked ? this.takeCut() : null;
    this.asked = false;
    return cut === null ? chunk : { last: chunk.subarray(0, cut) };
  }

  private async pump(from: Socket, to: Socket, pass: (chunk: Buffer) => Buffer | { last: Buffer }): Promise<void> {
    try {
      for await (const chunk of from as AsyncIterable<Buffer>) {
        await this.delay();
        if (this.over) return;
        const passed = pass(chunk);
        const bytes = 'last' in passed ? passed.last : passed;
        if (bytes.length > 0 && !to.write(bytes)) await drained(to);
        if ('last' in passed) {
          this.end(true);
          return;
        }
      }
      await this.unless('linger');
      to.end();
    } catch {
      await this.unless('linger');
      this.end(true);
    }
  }

  private async delay(): Promise<void> {
    await this.unless('silence');
    const mode = this.mode();
    if (mode.kind === 'latency') await new Promise((resolve) => setTimeout(resolve, mode.ms));
  }

  /** Wait while the proxy is in a mode. */
  private async unless(kind: ProxyMode['kind']): Promise<void> {
    while (this.mode().kind === kind && !this.over) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }
}

function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      socket.off('drain', done);
      socket.off('close', done);
      resolve();
    };
    socket.on('drain', done);
    socket.on('close', done);
  });
}

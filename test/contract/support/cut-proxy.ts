import { createServer, connect, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

/** Where a connection breaks: before a request reached the server, or after the server's reply and before the client saw it. */
export type CutPoint = 'before the request' | 'after the reply';

/** A TCP proxy that breaks the one connection on which a given text is sent. */
export class CutProxy {
  private armed: { marker: string; point: CutPoint; cut: () => void } | null = null;
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    readonly port: number,
  ) {}

  static async start(target: { host: string; port: number }): Promise<CutProxy> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const proxy = new CutProxy(server, (server.address() as AddressInfo).port);
    server.on('connection', (client) => proxy.join(client, connect(target.port, target.host)));
    return proxy;
  }

  /** Cut the next connection that carries `marker`, once. Resolves when it is cut. */
  cutOnce(marker: string, point: CutPoint): Promise<void> {
    return new Promise((cut) => (this.armed = { marker, point, cut }));
  }

  private join(client: Socket, server: Socket): void {
    for (const socket of [client, server]) {
      this.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.sockets.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    let onReply: (() => void) | null = null;
    client.on('data', (chunk: Buffer) => {
      const { armed } = this;
      if (armed !== null && chunk.includes(armed.marker)) {
        this.armed = null;
        const sever = (): void => {
          client.destroy();
          armed.cut();
        };
        if (armed.point === 'before the request') return sever();
        onReply = sever;
      }
      server.write(chunk);
    });
    server.on('data', (chunk: Buffer) => {
      if (onReply === null) client.write(chunk);
      else onReply();
    });
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }
}

import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { networkOfAddress, readAddress } from '../client-address';

export interface ConnectionLimits {
  /** Of one process. More are closed at once. */
  connections: number;
  /** Of one address, IPv6 by its first 56 bits; null where proxies stand in front, and all connections come from them. */
  connectionsPerAddress: number | null;
  /**
   * How long a client may take nothing of what is ready for it. What the kernel has taken ahead for it does not show: Linux takes more
   * when a third of its send buffer is free, which has up to 4 MiB (tcp(7), `tcp_wmem`).
   */
  stalledMs: number;
}

/** When a connection last took bytes, and how many it had taken by then. */
interface Progress {
  taken: number;
  at: number;
}

/**
 * The connections of a listener: how many there may be, and the end of those whose client takes nothing although bytes are
 * ready for it. (`server.setTimeout` does not see them: a heartbeat that is written, though never sent, counts there.)
 */
export class Connections {
  private readonly open = new Map<Socket, Progress>();
  private readonly byNetwork = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly limits: ConnectionLimits) {}

  watch(server: Server): void {
    server.maxConnections = this.limits.connections;
    server.on('connection', (socket: Socket) => this.accept(socket));
    const everyMs = Math.max(100, this.limits.stalledMs / 10);
    this.timer = setInterval(() => this.endStalled(performance.now()), everyMs).unref();
    server.once('close', () => clearInterval(this.timer));
  }

  private accept(socket: Socket): void {
    const network = networkOfAddress(readAddress({ socket }));
    const own = (this.byNetwork.get(network) ?? 0) + 1;
    const { connectionsPerAddress } = this.limits;
    if (connectionsPerAddress !== null && own > connectionsPerAddress) {
      socket.destroy();
      return;
    }
    this.byNetwork.set(network, own);
    this.open.set(socket, { taken: 0, at: performance.now() });
    socket.once('close', () => this.forget(socket, network));
  }

  private forget(socket: Socket, network: string): void {
    this.open.delete(socket);
    const left = (this.byNetwork.get(network) ?? 1) - 1;
    if (left > 0) this.byNetwork.set(network, left);
    else this.byNetwork.delete(network);
  }

  private endStalled(now: number): void {
    for (const [socket, progress] of this.open) {
      const taken = socket.bytesWritten - socket.writableLength;
      if (socket.writableLength === 0 || taken !== progress.taken) this.open.set(socket, { taken, at: now });
      else if (now - progress.at >= this.limits.stalledMs) socket.destroy();
    }
  }
}

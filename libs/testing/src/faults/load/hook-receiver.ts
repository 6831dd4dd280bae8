import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** How a receiver of webhooks treats what it is sent. */
export type ReceiverMode =
  { kind: 'open' } | /** Connections end without an answer. */ { kind: 'down' } | { kind: 'slow'; ms: number };

/** A receiver of webhooks on loopback, which remembers what it has accepted. */
export class HookReceiver {
  /** How often each message was accepted, by its id. */
  readonly accepted = new Map<string, number>();
  private mode: ReceiverMode = { kind: 'open' };

  private constructor(private readonly server: Server) {}

  static async start(): Promise<HookReceiver> {
    const server = createServer((request, response) => {
      request.resume();
      request.once('error', () => undefined);
      request.once('end', () => receiver.take(String(request.headers['webhook-id']), response));
    });
    const receiver = new HookReceiver(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    server.unref();
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/hook`;
  }

  behave(mode: ReceiverMode): void {
    this.mode = mode;
    if (mode.kind === 'down') this.server.closeAllConnections();
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private take(id: string, response: ServerResponse): void {
    const { mode } = this;
    if (mode.kind === 'down') {
      response.destroy();
      return;
    }
    setTimeout(
      () => {
        // Remembered before it is answered: a sender that dies in between sends it again.
        this.accepted.set(id, (this.accepted.get(id) ?? 0) + 1);
        response.writeHead(204).end();
      },
      mode.kind === 'slow' ? mode.ms : 0,
    );
  }
}

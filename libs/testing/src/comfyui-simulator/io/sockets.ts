import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import { toPythonJson } from './python-json';

/** WebSockets with ComfyUI's habits: one registration per client id, which the close of any socket of that id removes. */
export class Sockets {
  private readonly server = new WebSocketServer({ noServer: true });
  private readonly registered = new Map<string, WebSocket>();
  private readonly open = new Set<WebSocket>();
  private readonly withMetadata = new Set<WebSocket>();
  private readonly logReaders = new Set<string>();
  /** Pictures sent with the name of their node. */
  describedPictures = 0;
  private isDeaf = false;
  /** Messages that wait to be sent; null while none has to. */
  private waiting: (() => void)[] | null = null;
  private newcomers: (() => void)[] = [];

  constructor(private readonly onRegistered: (clientId: string) => void) {}

  /** How many sockets are open, registered or not. */
  get count(): number {
    return this.open.size;
  }

  accept(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    this.server.handleUpgrade(request, stream, head, (socket) => {
      const clientId = new URL(request.url ?? '', 'http://localhost').searchParams.get('clientId') ?? randomUUID();
      this.open.add(socket);
      this.registered.set(clientId, socket);
      socket.on('message', (data: Buffer) => this.listen(socket, data.toString()));
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.open.delete(socket);
        this.registered.delete(clientId);
        this.logReaders.delete(clientId);
      });
      this.onRegistered(clientId);
      for (const resolve of this.newcomers.splice(0)) resolve();
    });
  }

  /** Resolves when the next socket has been registered. */
  whenRegistered(): Promise<void> {
    return new Promise((resolve) => this.newcomers.push(resolve));
  }

  /** Sends to the socket of a client id, or to all. Without a socket the message is lost: it is not kept for later ones. */
  send(type: string, data: unknown, clientId: string | null): void {
    this.sendText(toPythonJson({ type, data }), clientId);
  }

  sendText(text: string, clientId: string | null): void {
    this.publish(() => {
      for (const socket of this.targets(clientId)) socket.send(text);
    });
  }

  /** A picture: with metadata to sockets that asked for it, without to the others. */
  sendPicture(format: 'JPEG' | 'PNG', bytes: Buffer, metadata: Record<string, unknown>, clientId: string | null): void {
    const image_type = format === 'JPEG' ? 'image/jpeg' : 'image/png';
    const described = Buffer.from(toPythonJson({ ...metadata, image_type }));
    this.publish(() => {
      for (const socket of this.targets(clientId)) {
        if (this.withMetadata.has(socket)) {
          this.describedPictures += 1;
          socket.send(Buffer.concat([words(4, described.length), described, bytes]));
        } else socket.send(Buffer.concat([words(1, format === 'JPEG' ? 1 : 2), bytes]));
      }
    });
  }

  sendNodeText(nodeId: string, text: string, clientId: string | null): void {
    const id = Buffer.from(nodeId);
    this.publish(() => {
      for (const socket of this.targets(clientId))
        socket.send(Buffer.concat([words(3, id.length), id, Buffer.from(text)]));
    });
  }

  sendLog(entries: { t: string; m: string }[]): void {
    for (const clientId of this.logReaders) this.send('logs', { entries, size: null }, clientId);
  }

  readLog(clientId: string, enabled: boolean): void {
    if (enabled) this.logReaders.add(clientId);
    else this.logReaders.delete(clientId);
  }

  /** Sockets stay open and are forgotten: nothing reaches them any more. New ones are served. */
  forget(): void {
    this.registered.clear();
  }

  /** While deaf, nothing is sent to anyone. */
  setDeaf(isDeaf: boolean): void {
    this.isDeaf = isDeaf;
  }

  /** Messages wait until the returned function is called, and come in their order then: as while pictures are encoded. */
  stall(): () => void {
    this.waiting ??= [];
    return () => {
      const waiting = this.waiting ?? [];
      this.waiting = null;
      for (const send of waiting) send();
    };
  }

  /** Cuts every connection, without a closing handshake. */
  cut(): void {
    for (const socket of this.open) socket.terminate();
  }

  private publish(send: () => void): void {
    if (this.isDeaf) return;
    if (this.waiting) this.waiting.push(send);
    else send();
  }

  private targets(clientId: string | null): Iterable<WebSocket> {
    if (clientId === null) return this.registered.values();
    const socket = this.registered.get(clientId);
    return socket ? [socket] : [];
  }

  private listen(socket: WebSocket, text: string): void {
    const message = JSON.parse(text) as { type?: string; data?: { supports_preview_metadata?: boolean } };
    if (message.type !== 'feature_flags') return;
    if (message.data?.supports_preview_metadata) this.withMetadata.add(socket);
    socket.send(
      toPythonJson({ type: 'feature_flags', data: { supports_preview_metadata: true, max_upload_size: 104857600 } }),
    );
  }
}

function words(first: number, second: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32BE(first, 0);
  bytes.writeUInt32BE(second, 4);
  return bytes;
}

import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { MAX_MESSAGE_BYTES, MAX_TEXT_BYTES } from './size-bounds';

export interface SocketOptions {
  /** The server's HTTP address. */
  url: string;
  clientId: string;
  headers: Readonly<Record<string, string>>;
  connectMs: number;
  pingMs: number;
  pauseMs: number;
}

export interface SocketListener {
  onText(text: string): void;
  onBinary(data: Buffer): void;
  /** A text that is larger than is parsed. */
  onLargeText(data: Buffer): void;
  /** A message, of which nothing is known, was larger than is received. That ended the socket, which is opened again. */
  onTooLarge(): void;
  /** The server has registered the socket: messages for its client id arrive from here on. */
  onOpen(): void;
}

/** Asks for previews that name their node; to be said first on every connection. */
const HANDSHAKE = JSON.stringify({ type: 'feature_flags', data: { supports_preview_metadata: true } });

const MAX_PAUSE_MS = 2_000;

/**
 * A WebSocket to ComfyUI that is opened again whenever it closes. There is never more than one per client id, and never
 * the next before the last has closed and a pause has passed: the close of an older one takes the registration of a newer
 * with it, and the newer one stays open and mute.
 */
export class ComfyuiSocket {
  private readonly closing = new AbortController();
  private connection: Connection | null = null;
  private readonly ended: Promise<void>;
  private waiting: (() => void)[] = [];
  private losses = 0;
  private open = false;

  constructor(
    private readonly options: SocketOptions,
    private readonly listener: SocketListener,
  ) {
    this.ended = this.maintain();
  }

  get clientId(): string {
    return this.options.clientId;
  }

  get isOpen(): boolean {
    return this.open;
  }

  /** How often it was lost: as often messages were missed, for good, because there is no replay. */
  get lossCount(): number {
    return this.losses;
  }

  /** Resolves to true when registered, to false when that took longer than `timeoutMs` or the socket was closed. */
  async whenOpen(timeoutMs: number): Promise<boolean> {
    if (!this.open && !this.closing.signal.aborted) {
      const timer = new AbortController();
      const opened = new Promise<void>((resolve) => this.waiting.push(resolve));
      await Promise.race([opened, delay(timeoutMs, undefined, { signal: timer.signal, ref: false }), this.ended]);
      timer.abort();
    }
    return this.open;
  }

  /** Ends the current connection; the next is opened by the rules above. */
  reopen(): void {
    this.connection?.end();
  }

  async close(): Promise<void> {
    this.closing.abort();
    this.connection?.end();
    await this.ended;
  }

  private async maintain(): Promise<void> {
    const { signal } = this.closing;
    let pauseMs = this.options.pauseMs;
    while (!signal.aborted) {
      this.connection = new Connection(this.options, this.listener);
      if (await this.connection.registered) {
        pauseMs = this.options.pauseMs;
        this.announce();
      }
      await this.connection.closed;
      if (this.open) this.losses += 1;
      this.open = false;
      if (!signal.aborted) await delay(pauseMs, undefined, { signal }).catch(() => undefined);
      pauseMs = Math.min(pauseMs * 2, Math.max(MAX_PAUSE_MS, this.options.pauseMs));
    }
    this.release();
  }

  private announce(): void {
    this.open = true;
    this.listener.onOpen();
    this.release();
  }

  private release(): void {
    const waiting = this.waiting;
    this.waiting = [];
    for (const resolve of waiting) resolve();
  }
}

/** One connection, from its first byte to its close. */
class Connection {
  /** True when the server's first message came, which it sends once the socket is registered; false when none did. */
  readonly registered: Promise<boolean>;
  readonly closed: Promise<void>;
  private readonly socket: WebSocket;
  private answered = true;

  constructor(options: SocketOptions, listener: SocketListener) {
    const { clientId, connectMs, headers, pingMs } = options;
    this.socket = new WebSocket(socketUrl(options.url, clientId), {
      headers,
      handshakeTimeout: connectMs,
      // Compression would cost time on the only event loop that the server has.
      perMessageDeflate: false,
      maxPayload: MAX_MESSAGE_BYTES,
    });
    const { socket } = this;
    const mute = setTimeout(() => this.end(), connectMs);
    const ping = setInterval(() => this.ping(), pingMs);
    this.closed = new Promise((resolve) =>
      socket.once('close', () => {
        clearTimeout(mute);
        clearInterval(ping);
        resolve();
      }),
    );
    const first = new Promise<boolean>((resolve) => socket.once('message', () => resolve(true)));
    this.registered = Promise.race([first, this.closed.then(() => false)]);
    socket.once('open', () => socket.send(HANDSHAKE));
    socket.once('message', () => clearTimeout(mute));
    socket.on('pong', () => (this.answered = true));
    // Every error is followed by a close, which says all else that matters.
    socket.on('error', ({ code }: NodeJS.ErrnoException) => {
      if (code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') listener.onTooLarge();
    });
    socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary) listener.onBinary(data);
      else if (data.length > MAX_TEXT_BYTES) listener.onLargeText(data);
      else listener.onText(data.toString('utf8'));
    });
  }

  /** Without a closing handshake: a server that is gone would not answer it. */
  end(): void {
    this.socket.terminate();
  }

  private ping(): void {
    if (this.socket.readyState !== WebSocket.OPEN) return;
    if (!this.answered) return this.end();
    this.answered = false;
    this.socket.ping();
  }
}

function socketUrl(url: string, clientId: string): string {
  const address = new URL(url);
  const protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
  const path = address.pathname.replace(/\/$/, '');
  return `${protocol}//${address.host}${path}/ws?clientId=${encodeURIComponent(clientId)}`;
}

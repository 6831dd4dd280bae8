import { connect, type Socket } from 'node:net';

/** An answer as it stood on the wire. */
export interface RawAnswer {
  status: number;
  /** Names in lower case; of a repeated header the last. */
  headers: Record<string, string>;
  body: string;
}

/** What came back on a connection, and whether the other side closed it. */
export interface RawExchange {
  text: string;
  answers: RawAnswer[];
  closed: boolean;
}

export interface RawOptions {
  /** Bytes of the request, in the pieces in which they are written. */
  pieces: (string | Buffer)[];
  /** The exchange is over when the other side closes, when this holds of what came, or after `withinMs`. */
  until?: (text: string) => boolean;
  /** Half-close the connection after this time, so that a server that waits for the rest of a request sees its end. */
  endAfterMs?: number;
  withinMs?: number;
}

/** Send bytes as they are, HTTP or not, and read what comes back. Never rejects: a cut connection is an answer too. */
export function exchangeRaw(origin: string, options: RawOptions): Promise<RawExchange> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    let text = '';
    let closed = false;
    const timer = setTimeout(() => finish(), options.withinMs ?? 60_000);
    const ending = options.endAfterMs === undefined ? undefined : setTimeout(() => socket.end(), options.endAfterMs);
    const finish = (): void => {
      clearTimeout(timer);
      clearTimeout(ending);
      socket.destroy();
      resolve({ text, answers: answersIn(text), closed });
    };
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      if (options.until?.(text)) finish();
    });
    socket.on('error', () => (closed = true));
    socket.on('close', () => {
      closed = true;
      finish();
    });
    void write(socket, options.pieces);
  });
}

async function write(socket: Socket, pieces: (string | Buffer)[]): Promise<void> {
  for (const piece of pieces) {
    if (socket.destroyed) return;
    await new Promise<void>((resolve) => socket.write(piece, () => resolve()));
  }
}

/** Every whole answer in a text, with a body of the length that its head declares. */
function answersIn(text: string): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = text;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    if (!rest.startsWith('HTTP/1.1 ') || end < 0) return answers;
    const [first = '', ...lines] = rest.slice(0, end).split('\r\n');
    const headers = Object.fromEntries(lines.map((line) => headerOf(line)));
    const length = Number(headers['content-length'] ?? 0);
    const body = Buffer.from(rest.slice(end + 4, end + 4 + length), 'latin1').toString('utf8');
    answers.push({ status: Number(first.split(' ')[1]), headers, body });
    rest = rest.slice(end + 4 + length);
  }
}

function headerOf(line: string): [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}

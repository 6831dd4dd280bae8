import { connect } from 'node:net';

/** @typedef {{ port: number, path: string, key: string }} StreamAddress on this machine */
/** @typedef {{ value: number, at: number }} Sent the progress of an event, and when it was published */

const HOST = '127.0.0.1';
const OPENED_AT_ONCE = 64;
const OPEN_LIMIT_MS = 30_000;
const RECEIVE_LIMIT_MS = 30_000;

/**
 * Clients of event streams, one socket each. They parse no more than they must, because their cost limits both sides of a
 * pair. They measure how long each event took from its publication; for an event that was skipped, until the next one came.
 */
export class StreamClients {
  /** @type {StreamClient[]} */
  #clients = [];
  /** For each client the events that were published and have not arrived, oldest first. @type {Sent[][]} */
  #pending = [];
  /** @type {number[]} */
  #tookMs = [];
  #awaited = 0;
  /** @type {(error?: Error) => void} */
  #settle = () => undefined;

  get count() {
    return this.#clients.length;
  }

  /**
   * Open a stream at each address; done when each has received its job's status.
   *
   * @param {StreamAddress[]} addresses
   */
  async open(addresses) {
    this.#pending = addresses.map(() => []);
    this.#clients = addresses.map((address, place) => {
      return new StreamClient(address, {
        progress: (value) => this.#receive(place, value),
        broken: (error) => this.#settle(error),
      });
    });
    const waiting = [...this.#clients];
    const lane = async () => {
      for (let client = waiting.pop(); client; client = waiting.pop()) await client.open();
    };
    await Promise.all(Array.from({ length: OPENED_AT_ONCE }, lane));
  }

  /**
   * Note that an event is published now to the clients `from` to `to`.
   *
   * @param {number} from
   * @param {number} to
   * @param {number} value of its progress; never less than an earlier one's
   */
  notePublished(from, to, value) {
    const at = performance.now();
    for (const pending of this.#pending.slice(from, to)) pending.push({ value, at });
  }

  /**
   * Wait until the clients have received `events`, counted from this call.
   *
   * @param {number} events
   * @returns {Promise<number[]>} milliseconds from the publication of each
   */
  received(events) {
    this.#tookMs = [];
    this.#awaited = events;
    return new Promise((resolve, reject) => {
      const late = () =>
        this.#settle(new Error(`${this.#tookMs.length} of ${events} events came in ${RECEIVE_LIMIT_MS} ms`));
      const timer = setTimeout(late, RECEIVE_LIMIT_MS);
      this.#settle = (error) => {
        clearTimeout(timer);
        this.#settle = () => undefined;
        if (error) reject(error);
        else resolve(this.#tookMs);
      };
    });
  }

  close() {
    for (const client of this.#clients) client.close();
    this.#clients = [];
  }

  /**
   * @param {number} place
   * @param {number} value
   */
  #receive(place, value) {
    const pending = this.#pending[place] ?? [];
    const now = performance.now();
    while (pending[0] !== undefined && pending[0].value <= value) this.#tookMs.push(now - (pending.shift()?.at ?? NaN));
    if (this.#tookMs.length === this.#awaited) this.#settle();
  }
}

/**
 * The frame of the status that a stream begins with.
 *
 * @param {StreamAddress} address
 */
export async function firstFrameOf(address) {
  let frame = '';
  const nothing = () => undefined;
  const client = new StreamClient(address, { progress: nothing, broken: nothing, status: (text) => (frame = text) });
  await client.open();
  client.close();
  return frame;
}

class StreamClient {
  #rest = '';
  #closing = false;
  /** @type {import('node:net').Socket | undefined} */
  #socket;

  /**
   * @param {StreamAddress} address
   * @param {{ progress: (value: number) => void, broken: (error: Error) => void, status?: (frame: string) => void }} on
   */
  constructor(address, on) {
    this.address = address;
    this.on = on;
  }

  /** @returns {Promise<void>} */
  open() {
    const { port, path, key } = this.address;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${path} did not begin in ${OPEN_LIMIT_MS} ms`)), OPEN_LIMIT_MS);
      const begun = () => {
        clearTimeout(timer);
        resolve();
      };
      const end = (/** @type {string} */ why) => {
        if (this.#closing) return;
        const error = new Error(`the stream ${path} ended: ${why}`);
        reject(error);
        this.on.broken(error);
      };
      const socket = connect({ host: HOST, port, noDelay: true });
      this.#socket = socket;
      const headers = [`Host: ${HOST}:${port}`, `Authorization: Bearer ${key}`, 'Accept: text/event-stream'];
      socket.write(`GET ${path} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`);
      socket.setEncoding('latin1');
      socket.once('data', (head) => {
        if (!String(head).startsWith('HTTP/1.1 200 ')) end(`it was answered ${String(head).slice(0, 200)}`);
      });
      socket.on('data', (text) => this.#read(String(text), begun));
      socket.on('error', (error) => end(error.message));
      socket.on('close', () => end('its connection closed'));
    });
  }

  close() {
    this.#closing = true;
    this.#socket?.destroy();
  }

  /**
   * @param {string} text
   * @param {() => void} begun
   */
  #read(text, begun) {
    const frames = (this.#rest + text).split('\n\n');
    this.#rest = frames.pop() ?? '';
    for (const frame of frames) {
      const progress = /event: progress\ndata: \{"value":([^,]+)/.exec(frame);
      if (progress) this.on.progress(Number(progress[1]));
      const status = frame.indexOf('event: status\n');
      if (status < 0) continue;
      this.on.status?.(`${frame.slice(status)}\n\n`);
      begun();
    }
  }
}

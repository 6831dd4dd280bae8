import { connect } from 'node:net';

/** @typedef {{ port: number, path: string, key: string }} StreamAddress on this machine */

const HOST = '127.0.0.1';
const OPENED_AT_ONCE = 64;
const OPEN_LIMIT_MS = 30_000;
const HEAR_LIMIT_MS = 30_000;

/**
 * Clients of event streams, one socket each, that do no more than tell events apart: what a client costs limits both sides
 * of a pair. They note how long each event took from when it was told; one that a later event overtook, until that one.
 */
export class StreamClients {
  /** @type {StreamClient[]} */
  #clients = [];
  /** The events that each has been told of and has not heard, oldest first. @type {{ value: number, at: number }[][]} */
  #told = [];
  /** @type {number[]} */
  #tookMs = [];
  #awaited = 0;
  /** @type {(error?: Error) => void} */
  #settle = () => undefined;

  get count() {
    return this.#clients.length;
  }

  /**
   * Open a stream at each address; done when each has heard its job's status.
   *
   * @param {StreamAddress[]} addresses
   */
  async open(addresses) {
    this.#told = addresses.map(() => []);
    this.#clients = addresses.map((address, place) => {
      return new StreamClient(address, {
        progress: (value) => this.#hear(place, value),
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
   * The event that clients `from` to `to` are about to be sent counts from now.
   *
   * @param {number} from
   * @param {number} to
   * @param {number} value of the progress that it tells; never less than an earlier one's
   */
  tell(from, to, value) {
    const at = performance.now();
    for (const told of this.#told.slice(from, to)) told.push({ value, at });
  }

  /**
   * What clients hear until `events` have come, counted from this call.
   *
   * @param {number} events
   * @returns {Promise<number[]>} milliseconds from when each was told
   */
  hear(events) {
    this.#tookMs = [];
    this.#awaited = events;
    return new Promise((resolve, reject) => {
      const late = () =>
        this.#settle(new Error(`${this.#tookMs.length} of ${events} events came in ${HEAR_LIMIT_MS} ms`));
      const timer = setTimeout(late, HEAR_LIMIT_MS);
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
  #hear(place, value) {
    const told = this.#told[place] ?? [];
    const now = performance.now();
    while (told[0] !== undefined && told[0].value <= value) this.#tookMs.push(now - (told.shift()?.at ?? NaN));
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

import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { eventually } from '@millrace/testing';
import { createSequentialServer } from '../pipelining';
import { assertFewPieces } from './gathering-message';

const HEAD = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
const LAST = '0\r\n\r\n';
const chunksOf = (bytes: string): string => Array.from(bytes, (byte) => `1\r\n${byte}\r\n`).join('');
const lettersOf = (length: number): string => Array.from({ length }, (_, at) => 'abcdefghijk'.charAt(at % 11)).join('');

let server: Server;
let client: Socket;
let request: IncomingMessage;
let response: ServerResponse;
beforeEach(async () => {
  server = createSequentialServer({}, (...exchange) => ([request, response] = exchange));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  client = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
  client.resume().write(HEAD);
  await once(server, 'request');
});
afterEach(async () => {
  client.destroy();
  await new Promise((closed) => server.close(closed).closeAllConnections());
});

const arrival = (): { pieces: number; bytes: number } =>
  (Reflect.get(request, 'arrival') as { pieces: number; bytes: number } | null) ?? { pieces: 0, bytes: 0 };
const pieces = (): number => arrival().pieces;
const bytes = (): number => arrival().bytes;

describe('a body in HTTP chunks of one byte', () => {
  it('is read whole and in order, in far fewer pieces than it was sent in', async () => {
    const sent = lettersOf(100_000);
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    client.write(chunksOf(sent) + LAST);
    await once(request, 'end');
    expect(Buffer.concat(pieces).toString()).toBe(sent);
    expect(pieces.length).toBeLessThan(1_000);
    // Who keeps one keeps no more than it is long.
    const gathered = pieces.filter((piece) => piece.length > 1);
    expect(gathered.filter((piece) => piece.buffer.byteLength !== piece.length)).toEqual([]);
    expect(request.complete).toBe(true);
  });

  it('is read by iteration as well, also by one that takes its time', async () => {
    const sent = lettersOf(60_000);
    client.write(chunksOf(sent) + LAST);
    let [received, pieces] = ['', 0];
    for await (const piece of request) {
      received += String(piece);
      pieces += 1;
      await new Promise(setImmediate);
    }
    expect(received).toBe(sent);
    expect(pieces).toBeLessThan(1_000);
  });

  it('waits for its reader: the connection is read no further than the buffer is large', async () => {
    const sent = chunksOf(lettersOf(1_000_000));
    let taken = 0;
    client.on('drain', () => (taken += 1));
    client.write(sent + LAST);
    await eventually('some of it', () => request.readableLength > 1_000);
    for (let turn = 0; turn < 100; turn += 1) await new Promise(setImmediate);
    expect(request.readableLength).toBeLessThan(3 * request.readableHighWaterMark);
    expect(taken).toBe(0);
    let received = 0;
    request.on('data', (piece: Buffer) => (received += piece.length));
    await once(request, 'end');
    expect(received).toBe(1_000_000);
  });

  it('lets others have their turn while it is read', async () => {
    let [turns, isOver] = [0, false];
    request.on('data', () => undefined).once('end', () => (isOver = true));
    client.write(chunksOf(lettersOf(300_000)) + LAST);
    while (!isOver) {
      turns += 1;
      await new Promise(setImmediate);
    }
    expect(turns).toBeGreaterThan(20);
  });

  it('reaches its reader byte by byte where it comes so', async () => {
    let received = '';
    request.on('data', (piece: Buffer) => (received += String(piece)));
    const sent = lettersOf(40);
    for (const [at, byte] of [...sent].entries()) {
      client.write(chunksOf(byte));
      await eventually('the byte', () => received.length === at + 1);
    }
    expect(received).toBe(sent);
  });

  it('is refused where it is long, with the cure, while one in chunks of a fair size is taken', async () => {
    request.on('data', () => undefined);
    client.write(chunksOf(lettersOf(65_000)));
    await eventually('65,000 pieces', () => pieces() === 65_000);
    expect(() => assertFewPieces(request)).not.toThrow();
    client.write(chunksOf(lettersOf(1_000)));
    await eventually('the rest', () => pieces() === 66_000);
    expect(() => assertFewPieces(request)).toThrow('send it in larger ones');
    client.write(`1e8480\r\n${'x'.repeat(2_000_000)}\r\n`);
    await eventually('2 MB more', () => bytes() === 2_066_000);
    expect(() => assertFewPieces(request)).toThrow('send it in larger ones');
    client.write(`1e8480\r\n${'x'.repeat(2_000_000)}\r\n${LAST}`);
    await once(request, 'end');
    expect(() => assertFewPieces(request)).not.toThrow();
  });
});

it('a refused body in HTTP chunks of one byte ends its connection after one read of them', async () => {
  response.writeHead(404).end();
  const closed = new Promise((resolve) => client.once('close', resolve));
  client.write(chunksOf(lettersOf(500_000)));
  await closed;
  expect(pieces()).toBeLessThan(25_000);
});

import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { eventually } from '@millrace/testing';
import { createSequentialServer } from './pipelining';

const REQUEST = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

let server: Server;
let socket: Socket;
let received: string;
let begun: ServerResponse[];
beforeEach(async () => {
  [begun, received] = [[], ''];
  server = createSequentialServer({}, (_request, response) => void begun.push(response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined).on('data', (chunk: Buffer) => (received += chunk.toString()));
  await once(socket, 'connect');
});
afterEach(async () => {
  socket.destroy();
  await new Promise((closed) => server.close(closed));
});

it.each([
  ['', REQUEST],
  [' with an expectation', 'GET / HTTP/1.1\r\nHost: a\r\nExpect: x\r\n\r\n'],
  [' that ask to continue', 'GET / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n'],
])(
  'requests%s that come before the answer to the first end the connection, and what it held is closed',
  async (_, sent) => {
    socket.write(sent.repeat(1_000));
    await once(socket, 'close');
    expect(begun.length).toBe(1);
    expect(begun[0]?.destroyed).toBe(true);
    expect(received.replaceAll('HTTP/1.1 100 Continue\r\n\r\n', '')).toBe('');
  },
);

it('the rest of what such a connection sent is not parsed', async () => {
  let parsed = 0;
  server.prependListener('request', () => (parsed += 1));
  socket.write(REQUEST.repeat(1_000));
  await once(socket, 'close');
  expect(parsed).toBeLessThan(10);
});

it.each([
  'comes after the answer',
  'comes after its headers, and nobody reads it',
  'comes with its headers, and nobody reads it',
  'comes after the answer to an expectation',
])(
  'the rest of a body is read slowly once the request is answered, not as fast as it comes, where it %s',
  async (when) => {
    const chunk = Buffer.concat([Buffer.from('8000\r\n'), Buffer.alloc(32_768), Buffer.from('\r\n')]);
    const expects = when.includes('expectation');
    const more = expects ? 'Expect: x\r\n' : '';
    const head = Buffer.from(`POST / HTTP/1.1\r\nHost: a\r\n${more}Transfer-Encoding: chunked\r\n\r\n`);
    const arrived = once(server, expects ? 'checkExpectation' : 'request');
    socket.write(when.includes('with') ? Buffer.concat([head, chunk]) : head);
    const [request] = (await arrived) as [IncomingMessage];
    const paused = jest.spyOn(request, 'pause');
    const send = (): void => {
      while (socket.writable && socket.write(chunk));
    };
    socket.on('drain', send);
    if (when.includes('nobody')) {
      send();
      await eventually('its buffer is full', () => request.readableLength >= request.readableHighWaterMark);
    }
    begun[0]?.end('answer');
    await eventually('the answer', () => received.includes('answer'));
    send();
    await eventually('pauses', () => paused.mock.calls.length > 2);
  },
);

it('what is no request is not answered within an answer that has begun', async () => {
  socket.write(REQUEST);
  await once(server, 'request');
  begun[0]?.writeHead(200, { 'Content-Length': 1_000 }).write('first');
  while (!received.includes('first')) await once(socket, 'data');
  socket.write('NONSENSE\r\n\r\n');
  await once(socket, 'close');
  expect(received.split('HTTP/1.1')).toHaveLength(2);
});

it('requests one after the other share their connection', async () => {
  for (let n = 1; n <= 3; n += 1) {
    const arrived = once(server, 'request');
    socket.write(REQUEST);
    await arrived;
    begun.at(-1)?.end(`answer ${n}`);
    while (!received.includes(`answer ${n}`)) await once(socket, 'data');
  }
  expect(begun.length).toBe(3);
});

it('a request that comes once every promised byte was sent is served when the answer before it has finished', async () => {
  socket.write(REQUEST);
  await once(server, 'request');
  begun[0]?.writeHead(200, { 'Content-Length': 5 }).write('first');
  while (!received.includes('first')) await once(socket, 'data');
  const early = once(server, 'request');
  socket.write(REQUEST);
  await early;
  expect(begun.length).toBe(1);
  begun[0]?.end();
  await once(begun[0] as ServerResponse, 'finish');
  expect(begun.length).toBe(2);
  begun[1]?.end('second');
  while (!received.includes('second')) await once(socket, 'data');
});

it('a request that waits is not served when its connection ends with the answer before it', async () => {
  socket.write(REQUEST);
  await once(server, 'request');
  const early = once(server, 'request');
  socket.write(REQUEST);
  await early;
  begun[0]?.writeHead(200, { Connection: 'close' }).end('last');
  await once(socket, 'close');
  expect(begun.length).toBe(1);
});

it('a request that waits lets the answer before it be of any length, and another ends the connection', async () => {
  socket.write(REQUEST);
  await once(server, 'request');
  socket.write(REQUEST);
  await once(server, 'request');
  socket.write(REQUEST);
  await once(socket, 'close');
  expect(begun.length).toBe(1);
});

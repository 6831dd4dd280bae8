import { once } from 'node:events';
import type { RequestListener, Server, ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { createSequentialServer } from '@millrace/platform';
import { answerUnreadable } from './public-server';

let server: Server;
let serve: RequestListener;
beforeEach(async () => {
  server = createSequentialServer({}, (request, response) => serve(request, response));
  answerUnreadable(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
});
afterEach(async () => {
  jest.useRealTimers();
  await new Promise((closed) => server.close(closed));
});

it.each(['NONSENSE\r\n\r\n', 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n'])(
  'a connection on which no request could be read is closed, though its client leaves its half open: %j',
  async (sent) => {
    const accepted = once(server, 'connection');
    const { port } = server.address() as AddressInfo;
    const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const [socket] = (await accepted) as [Socket];
    const answered = once(socket, 'finish');
    let received = '';
    client.on('data', (chunk: Buffer) => (received += chunk.toString())).on('error', () => undefined);
    const ended = once(client, 'end');
    client.write(sent);
    await Promise.all([answered, ended]);
    expect([received.slice(0, 10), socket.destroyed]).toEqual(['HTTP/1.1 4', false]);
    const closed = once(socket, 'close');
    jest.advanceTimersByTime(5_000);
    await closed;
    client.destroy();
  },
);

/** What a client receives until its connection ends. @param later sent once some of the answer has come. */
async function exchange(sent: string, later?: string): Promise<string> {
  let received = '';
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('data', (chunk: Buffer) => (received += chunk.toString())).on('error', () => undefined);
  const closed = new Promise((resolve) => client.once('close', resolve));
  client.write(sent);
  if (later !== undefined) client.once('data', () => client.write(later));
  await closed;
  return received;
}

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const POST = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
const NO_CHUNK = 'no chunk\r\n';
const headsIn = (received: string): number => received.split('HTTP/1.1').length - 1;
const download: RequestListener = (_, response) => {
  response.writeHead(200, { 'Content-Length': 1_000 }).write('beginning');
};
const events: RequestListener = (_, response) => {
  response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(': hello\n\n');
};

describe('what is no request', () => {
  it.each([
    ['bytes that are no HTTP', 'a download', GET, 'NONSENSE\r\n\r\n', download],
    ['bytes that are no HTTP', 'an event stream', GET, 'NONSENSE\r\n\r\n', events],
    ['a CONNECT', 'a download', GET, 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n', download],
    ['a body that is no HTTP', 'the answer to its request', POST, NO_CHUNK, download],
  ])(
    'ends the connection, and is not answered within what has begun: %s after %s',
    async (_, _of, request, sent, answer) => {
      serve = answer;
      expect(headsIn(await exchange(request, sent))).toBe(1);
    },
  );

  it('is not answered within an answer where it comes too late', async () => {
    serve = (request, response) => {
      events(request, response);
      setImmediate(() => server.emit('clientError', { code: 'ERR_HTTP_REQUEST_TIMEOUT' }, request.socket));
    };
    expect(headsIn(await exchange(GET))).toBe(1);
  });

  it.each(['NONSENSE\r\n\r\n', 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n'])(
    'costs a whole request before it no answer, which is the last of the connection: %j',
    async (sent) => {
      let own: ServerResponse | undefined;
      serve = (_, response) => void (own = response);
      const event = sent.startsWith('CONNECT') ? 'connect' : 'clientError';
      const answered = exchange(`${GET}${sent}`);
      await once(server, event);
      own?.end('its own');
      const received = await answered;
      expect([headsIn(received), received.includes('Connection: close'), received.includes('its own')]).toEqual([
        1,
        true,
        true,
      ]);
    },
  );

  it('is not answered a second time where it is the rest of a body that was refused', async () => {
    serve = (_, response) => void response.writeHead(404, { 'Content-Length': 0 }).end();
    expect(headsIn(await exchange(POST, NO_CHUNK))).toBe(1);
  });

  it('costs a complete answer before it nothing', async () => {
    const answer = 'a'.repeat(5_000_000);
    serve = (_, response) => void response.writeHead(200, { 'Content-Length': answer.length }).end(answer);
    const received = await exchange(`${GET}NONSENSE\r\n\r\n`);
    expect([headsIn(received), received.endsWith(answer)]).toEqual([1, true]);
  });

  it('is answered where it is the body of a request without an answer', async () => {
    serve = () => undefined;
    const answered = exchange(`${POST}${NO_CHUNK}`);
    const accepted = (await once(server, 'clientError')) as [unknown, Socket];
    await once(accepted[1], 'finish');
    jest.advanceTimersByTime(5_000);
    expect(await answered).toContain('HTTP/1.1 400');
  });
});

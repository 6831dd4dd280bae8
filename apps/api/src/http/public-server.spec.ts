import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { answerUnreadable } from './public-server';

let server: Server;
beforeEach(async () => {
  server = createServer();
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

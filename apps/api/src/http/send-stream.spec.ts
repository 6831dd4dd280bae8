import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { sendStream } from './send-stream';

const headers = { 'Content-Type': 'text/csv' };

/** Send parts to one request. @returns what the client got, and whether the headers were out when sending ended. */
async function sent(parts: () => AsyncGenerator<string>): Promise<{ answer: IncomingMessage; error: unknown }> {
  let error: unknown = null;
  const server = createServer((_, response: ServerResponse) => {
    void sendStream(response, { headers, parts: parts() }).catch((thrown: unknown) => {
      error = thrown;
      if (!response.headersSent) response.writeHead(500).end('not begun');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const request = get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', agent: false });
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  server.close();
  return { answer, error };
}

describe('an answer that is made while it is read', () => {
  it('has not begun where its first part fails: no header of it is set', async () => {
    const { answer, error } = await sent(async function* () {
      throw await Promise.resolve(new Error('the database is gone'));
    });
    expect(error).toEqual(new Error('the database is gone'));
    expect(answer.statusCode).toBe(500);
    expect(answer.headers['content-type']).toBeUndefined();
    expect(await text(answer)).toBe('not begun');
  });

  it('is whole where it has no part', async () => {
    const { answer } = await sent(async function* () {
      yield* await Promise.resolve([]);
    });
    expect([answer.statusCode, answer.headers['content-type'], await text(answer)]).toEqual([200, 'text/csv', '']);
  });

  it('has its parts in order', async () => {
    const { answer } = await sent(async function* () {
      yield* await Promise.resolve(['a', 'b', 'c']);
    });
    expect(await text(answer)).toBe('abc');
  });
});

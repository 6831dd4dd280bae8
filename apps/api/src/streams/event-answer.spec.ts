import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { followersOf } from '@millrace/testing';
import { EventAnswer, Frame } from './event-answer';

/** Every byte that a client gets after the headers, when `send` makes the answer. */
async function bytesOf(send: (response: ServerResponse) => void, version = '1.1'): Promise<string> {
  const server = createServer((_request, response) => {
    send(response);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write(`GET / HTTP/${version}\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  const answer = await text(socket);
  server.close();
  await once(server, 'close');
  return answer.slice(answer.indexOf('\r\n\r\n') + 4);
}

/** What Node makes of the same texts, piece by piece. */
const byNode =
  (texts: readonly string[]) =>
  (response: ServerResponse): void => {
    response.flushHeaders();
    for (const piece of texts) response.write(piece);
  };

const byAnswer =
  (frames: readonly Frame[]) =>
  (response: ServerResponse): void => {
    const answer = new EventAnswer(response);
    answer.begin();
    for (const frame of frames) answer.send(frame);
  };

const TEXTS = fc.array(fc.string({ minLength: 1, unit: 'grapheme' }), { maxLength: 5 });

describe('the answer that is an event stream', () => {
  it('is byte by byte what Node itself sends of the same frames', async () => {
    await fc.assert(
      fc.asyncProperty(TEXTS, async (texts) => {
        expect(await bytesOf(byAnswer(texts.map((piece) => new Frame(piece))))).toBe(await bytesOf(byNode(texts)));
      }),
      { numRuns: 50 },
    );
  });

  it('has no chunks for a client of HTTP/1.0, which knows none', async () => {
    const frames = [new Frame('event: a\ndata: {}\n\n'), new Frame(': alive\n\n')];
    expect(await bytesOf(byAnswer(frames), '1.0')).toBe('event: a\ndata: {}\n\n: alive\n\n');
  });

  it('may be sent to a client that has gone: it fails nobody, and nobody waits for it', async () => {
    const server = createServer();
    const gone = new Promise<EventAnswer>((resolve) => {
      server.on('request', (_request, response: ServerResponse) => {
        const answer = new EventAnswer(response);
        answer.begin();
        response.on('close', () => resolve(answer));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await once(socket, 'data');
    socket.destroy();
    const answer = await gone;
    answer.send(new Frame('data: {}\n\n'));
    await answer.drained(AbortSignal.abort());
    expect(answer.isBehind).toBe(false);
    server.close();
    await once(server, 'close');
  });

  it('waits for a client that is behind until it has taken all, and leaves nothing on the signal of its stream', async () => {
    const server = createServer();
    const begun = new Promise<EventAnswer>((resolve) => {
      server.on('request', (_request, response: ServerResponse) => {
        const answer = new EventAnswer(response);
        answer.begin();
        resolve(answer);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    const answer = await begun;
    const large = new Frame('x'.repeat(1_000_000));
    while (answer.send(large));
    expect(answer.isBehind).toBe(true);
    let isDrained = false;
    const { signal } = new AbortController();
    const drained = answer.drained(signal).then(() => (isDrained = true));
    await new Promise(setImmediate);
    expect(isDrained).toBe(false);
    socket.resume();
    await drained;
    expect(answer.isBehind).toBe(false);
    expect(followersOf(signal)).toBe(0);
    socket.destroy();
    server.close();
    await once(server, 'close');
  });
});

import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { sendZip } from './zip-answer';
import type { ZipEntry } from './zip-stream';

const entry = (path: string, body: Readable): ZipEntry => ({ path, mtime: new Date(), body });
async function* only(...bodies: Readable[]): AsyncGenerator<ZipEntry> {
  for (const [nth, body] of bodies.entries()) yield await Promise.resolve(entry(String(nth), body));
}

/** A server that answers with an archive. @returns what sending each comes to, and how to ask for it. */
async function serving(
  files: () => AsyncIterable<ZipEntry>,
): Promise<{ server: Server; sent: Promise<void>; ask: () => Promise<IncomingMessage> }> {
  let note: (sending: Promise<void>) => void;
  const sent = new Promise<void>((resolve) => (note = resolve));
  const server = createServer((_, response: ServerResponse) => note(sendZip(response, {}, files())));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const ask = async (): Promise<IncomingMessage> => {
    const request = get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', agent: false });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return response.on('error', () => undefined);
  };
  return { server, sent, ask };
}

describe('an archive that is sent', () => {
  it('is cut off by a file that fails, and what that failed with is thrown', async () => {
    const body = new PassThrough();
    const { server, sent, ask } = await serving(() => only(Readable.from(['whole']), body));
    const response = await ask();
    const closed = new Promise((resolve) => response.once('close', resolve));
    response.resume();
    body.write('half');
    body.destroy(new Error('the store is gone'));
    await expect(sent).rejects.toThrow('the store is gone');
    await closed;
    expect(response.complete).toBe(false);
    server.close();
  });

  it('ends quietly when its client goes, with the file that is being read', async () => {
    // Nothing more comes from it: only the client's leaving ends it.
    const body = new PassThrough();
    body.write('half');
    const { server, sent, ask } = await serving(() => only(body));
    (await ask()).destroy();
    await sent;
    expect(body.destroyed).toBe(true);
    server.close();
  });

  it('is not begun for a client that has gone', async () => {
    const response = new PassThrough().destroy();
    let isRead = false;
    const files = async function* (): AsyncGenerator<ZipEntry> {
      isRead = true;
      yield* only(Readable.from(['text']));
    };
    await sendZip(response as unknown as ServerResponse, {}, files());
    expect(isRead).toBe(false);
  });

  it('has a directory that is sent as fast as the client takes it', async () => {
    const files = async function* (): AsyncGenerator<ZipEntry> {
      for (let nth = 0; nth < 5_000; nth += 1) {
        yield await Promise.resolve(entry(`${String(nth).padStart(100, '0')}.txt`, Readable.from([])));
      }
    };
    const response = new PassThrough({ highWaterMark: 1 });
    const sending = sendZip(response as unknown as ServerResponse, {}, files());
    let [waiting, bytes] = [0, 0];
    for await (const piece of response) {
      bytes += (piece as Buffer).length;
      waiting = Math.max(waiting, response.readableLength + response.writableLength);
    }
    await sending;
    expect(bytes).toBeGreaterThan(5_000 * 2 * 100);
    expect(waiting).toBeLessThan(140_000);
  });
});

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sendText } from './send-text';

describe('a large text', () => {
  const texts = ['{"a":"', `${'\u{1f600}é'.repeat(100_000)}x${'\u{1f600}'.repeat(100_000)}`, '"}'];
  let server: Server;
  let url: string;
  beforeAll(async () => {
    server = createServer((_request, response) => void sendText(response, 'application/json', texts));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  it('arrives whole, characters of two units included, with its length', async () => {
    const answer = await fetch(url);
    const text = await answer.text();
    expect(text === texts.join('')).toBe(true);
    expect(answer.headers.get('content-length')).toBe(String(Buffer.byteLength(text)));
  });

  it('is left out of the answer to HEAD', async () => {
    const answer = await fetch(url, { method: 'HEAD' });
    expect([answer.status, await answer.text()]).toEqual([200, '']);
  });

  it('that nobody takes any more ends quietly', async () => {
    const stop = new AbortController();
    const answer = await fetch(url, { signal: stop.signal });
    stop.abort();
    await expect(answer.text()).rejects.toThrow();
    expect((await fetch(url, { method: 'HEAD' })).status).toBe(200);
  });
});

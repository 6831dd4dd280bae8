import { createServer, request as send, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Request } from 'express';
import { Refusal } from '@millrace/contracts';
import { claimedKey, idempotencyKeyOf } from './idempotency-key';

/** The key that a server reads of what a client sends. */
async function read(sent: string | string[]): Promise<string | undefined> {
  const server = createServer((request: IncomingMessage, response) => {
    const asked = Object.assign(request, { get: (name: string) => request.headers[name.toLowerCase()] });
    try {
      response.end(JSON.stringify({ key: idempotencyKeyOf(asked as Request) }));
    } catch (error) {
      response.end(JSON.stringify({ key: error instanceof Refusal ? `${error.status}` : 'failed' }));
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const asked = send({ port, host: '127.0.0.1', agent: false, headers: { 'Idempotency-Key': sent } }).end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  const text = (await answer.setEncoding('utf8').toArray()).join('');
  server.close();
  return (JSON.parse(text) as { key?: string }).key;
}

describe('a key', () => {
  const printable = Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at)).join('');

  it.each(['a b', 'order 4711, part 2', `x${printable}x`, 'k'.repeat(255)])('may be %j', async (key) => {
    expect(await read(key)).toBe(key);
  });

  it('has no space at its ends: HTTP drops it on the way', async () => {
    expect(await read('  a b ')).toBe('a b');
  });

  it.each([[''], [' '], ['k'.repeat(256)], ['schl\u00fcssel'], ['a\tb'], [['a', 'b']]])(
    'may not be %j',
    async (key) => {
      expect(await read(key)).toBe('422');
    },
  );
});

describe('a key as it is claimed', () => {
  const ofSubKey = claimedKey({ labels: { user: '1' } }, 'k') ?? '';

  it('of a sub-key is met by no key that a request presents', () => {
    expect(ofSubKey).toMatch(/ k$/);
    for (const labels of [null, { user: '2' }]) expect(claimedKey({ labels }, ofSubKey)).not.toBe(ofSubKey);
    expect(claimedKey({ labels: { user: '1' } }, 'k')).toBe(ofSubKey);
  });

  it('of an account is that key', () => {
    for (const key of ['a b', `${'x'.repeat(42)} b`, 'k']) expect(claimedKey({ labels: null }, key)).toBe(key);
  });
});

import { Readable } from 'node:stream';
import type { Fence } from '@millrace/jobs';
import { GatewayUnreachable, type GatewayClient, type GatewayRequest } from './gateway.client';
import { uploadOutput } from './output-upload';
import { StoreLinks } from './store-links';

beforeEach(() => jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] }));
afterEach(() => jest.useRealTimers());

it('a part that the gateway refuses for now is not sent again once nothing more is to be sent', async () => {
  const over = new AbortController();
  const asked = jest.fn(() => Promise.reject(new GatewayUnreachable('busy', { retryAfterMs: 60_000 })));
  const client = { ask: asked } as unknown as GatewayClient;
  const links = new StoreLinks({ warn: () => undefined });
  const options = { name: 'a.txt', partBytes: 2, links, signal: over.signal };
  const ended = expect(
    uploadOutput(client, {} as Fence, Readable.from([Buffer.from('abc')]), options),
  ).rejects.toThrow();
  await jest.advanceTimersByTimeAsync(1_000);
  over.abort();
  await ended;
  expect(asked).toHaveBeenCalledTimes(1);
  expect(asked).toHaveBeenCalledWith(expect.anything(), expect.objectContaining({ signal: over.signal }));
  expect(jest.getTimerCount()).toBe(0);
});

it('a part that the gateway refuses for now is sent again, and the others once', async () => {
  const arrived: string[] = [];
  let refusals = 2;
  const ask = (_schema: unknown, { method, path, body }: GatewayRequest): Promise<unknown> => {
    if (path === 'uploads') return Promise.resolve({ upload: 'upload', url: null });
    if (method !== 'PUT') return Promise.resolve({ receipt: 'r', contentType: 'text/plain', hash: 'h', sizeBytes: 6 });
    if (path.endsWith('/2') && refusals > 0) {
      refusals -= 1;
      return Promise.reject(new GatewayUnreachable('the gateway answered with status 429', { retryAfterMs: 2_000 }));
    }
    arrived.push(`${path}: ${(body as Buffer).toString()}`);
    return Promise.resolve({});
  };
  const source = Readable.from([Buffer.from('abcdef')]);
  const attempt = {} as Fence;
  const links = new StoreLinks({ warn: () => undefined });
  const client = { ask } as unknown as GatewayClient;
  const stored = uploadOutput(client, attempt, source, { name: 'a.txt', partBytes: 2, links });
  await jest.runAllTimersAsync();
  await jest.advanceTimersByTimeAsync(30_000);
  expect(await stored).toMatchObject({ contentType: 'text/plain', blob: { receipt: 'r' } });
  expect(arrived).toEqual(['uploads/parts/1: ab', 'uploads/parts/2: cd', 'uploads/parts/3: ef']);
});

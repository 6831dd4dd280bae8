import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { readText } from './body';

/** A request whose body is sent by hand. */
function sending(): PassThrough & IncomingMessage {
  return Object.assign(new PassThrough(), {
    headers: { 'content-type': 'application/json' },
  }) as unknown as PassThrough & IncomingMessage;
}

describe('a body that is read at once', () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] }));
  afterEach(() => jest.useRealTimers());
  const written = (request: PassThrough, text: string): Promise<void> =>
    new Promise((resolve) => request.write(text, () => resolve()));

  it('whose sender falls silent is refused with 408, and the connection is closed', async () => {
    const request = sending();
    const reading = readText(request, 1_000);
    await written(request, '{"work');
    jest.advanceTimersByTime(20_000);
    await expect(reading).rejects.toMatchObject({
      code: 'invalid_request',
      status: 408,
      headers: { Connection: 'close' },
    });
  });

  it('is waited for as long as some of it comes', async () => {
    const request = sending();
    const reading = readText(request, 1_000);
    for (const piece of ['{"a"', ':', '1', '}']) {
      jest.advanceTimersByTime(19_000);
      await written(request, piece);
    }
    request.end();
    expect(await reading).toBe('{"a":1}');
    expect(jest.getTimerCount()).toBe(0);
  });
});

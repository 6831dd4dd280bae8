import { PassThrough } from 'node:stream';
import { dropRest } from './drop-rest';

const MIB = 1_048_576;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the rest of a refused body', () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] }));
  afterEach(() => jest.useRealTimers());

  it('is read to its end, and no faster than 4 MiB a second', async () => {
    const request = new PassThrough({ highWaterMark: 65_536 });
    dropRest(request);
    let sent = 0;
    const send = async (): Promise<void> => {
      for (; sent < 8 * MIB; sent += 65_536) {
        if (!request.write(Buffer.alloc(65_536))) await new Promise((resolve) => request.once('drain', resolve));
      }
      request.end();
    };
    void send();
    const passMs = async (ms: number): Promise<void> => {
      for (const until = Date.now() + ms; Date.now() < until; jest.advanceTimersByTime(1)) await turn();
    };
    await passMs(1_000);
    expect(sent).toBeLessThan(5 * MIB);
    expect(sent).toBeGreaterThan(3 * MIB);
    await passMs(1_500);
    expect([sent, request.readableEnded, jest.getTimerCount()]).toEqual([8 * MIB, true, 0]);
  });

  it.each([
    ['no faster than 4,096 a second, where each is tiny', 20, 4_096],
    ['and its connection ended after some thousands, where each is one byte', 1, 4_600],
  ])('is read in pieces, %s', async (_, bytes, most) => {
    const request = new PassThrough({ highWaterMark: 200 });
    dropRest(request);
    let handled = 0;
    request.on('data', () => (handled += 1));
    const piece = Buffer.alloc(bytes);
    for (let ms = 0; ms < 3_000; ms += 1) {
      while (!request.destroyed && request.write(piece));
      jest.advanceTimersByTime(1);
      await turn();
      if (ms === 1_000) expect(handled).toBeLessThan(1.2 * 4_096);
    }
    expect(request.destroyed).toBe(bytes === 1);
    expect(handled).toBeLessThanOrEqual(bytes === 1 ? most : 3.2 * most);
    expect(handled).toBeGreaterThan(2_000);
  });
});

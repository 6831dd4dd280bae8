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
});

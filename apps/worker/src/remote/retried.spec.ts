import { Refusal } from '@millrace/contracts';
import { GatewayClient, GatewayUnreachable } from './gateway.client';
import { retried } from './retried';
import { z } from 'zod';

beforeEach(() => jest.useFakeTimers());
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

/** Work that fails as often as there are errors. */
function failing(...errors: Error[]): { work: () => Promise<string>; tries: () => number } {
  let tries = 0;
  const work = (): Promise<string> => {
    const error = errors[tries];
    tries += 1;
    return error === undefined ? Promise.resolve('done') : Promise.reject(error);
  };
  return { work, tries: () => tries };
}

describe('what the gateway refuses for now', () => {
  it('is sent again when it says, and not before', async () => {
    const { work, tries } = failing(new GatewayUnreachable('busy', { retryAfterMs: 2_000 }));
    const done = retried(work);
    await jest.advanceTimersByTimeAsync(1_999);
    expect(tries()).toBe(1);
    await jest.advanceTimersByTimeAsync(4_001);
    expect(await done).toBe('done');
  });

  it('is sent again soon where it does not say when', async () => {
    const { work } = failing(new GatewayUnreachable('no answer'), new GatewayUnreachable('no answer'));
    const done = retried(work);
    await jest.advanceTimersByTimeAsync(600);
    expect(await done).toBe('done');
  });

  it('is not sent again, nor waited for, once its signal has aborted', async () => {
    const over = new AbortController();
    const { work, tries } = failing(new GatewayUnreachable('busy', { retryAfterMs: 60_000 }));
    const ended = expect(retried(work, { signal: over.signal })).rejects.toThrow('nobody waits');
    await jest.advanceTimersByTimeAsync(1_000);
    over.abort(new Error('nobody waits'));
    await ended;
    expect(tries()).toBe(1);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('fails when it was sent as often as it may be, and at once where it was refused for good', async () => {
    const { work, tries } = failing(
      ...Array.from({ length: 9 }, () => new GatewayUnreachable('busy', { retryAfterMs: 2_000 })),
    );
    const failed = expect(retried(work, { tries: 3 })).rejects.toThrow('busy');
    await jest.runAllTimersAsync();
    await failed;
    expect(tries()).toBe(3);
    const refused = failing(new Refusal('forbidden', 'not yours'));
    await expect(retried(refused.work)).rejects.toThrow('not yours');
    expect(refused.tries()).toBe(1);
  });
});

describe('an answer 429', () => {
  const ask = (headers: Record<string, string>): Promise<unknown> => {
    const body = { error: { code: 'rate_limited', message: 'later' } };
    jest.spyOn(globalThis, 'fetch').mockResolvedValue(Response.json(body, { status: 429, headers }));
    const client = new GatewayClient('http://gateway', 'mrw_x');
    return client.ask(z.object({}), { method: 'PUT', path: 'workers/x/catalogue', body: {} });
  };

  it.each([
    [{ 'retry-after': '7' }, 7_000],
    [{ 'retry-after': '86400' }, 60_000],
    [{ 'retry-after': 'tomorrow' }, 0],
    [{}, 0],
  ])('with %j is one that passes, after %s ms', async (headers, retryAfterMs) => {
    await expect(ask(headers)).rejects.toMatchObject({ name: 'GatewayUnreachable', code: 'ECONNRESET', retryAfterMs });
  });
});

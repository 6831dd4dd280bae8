import { ANSWER_LOST, CONSOLE_CODES, isOutage, type ApiError } from '../../apps/console/src/api/api-error';
import { send, sendForJson } from '../../apps/console/src/api/client';
import { ownCure } from '../../apps/console/src/ui/cures';
import { isUnanswered, sendOnce } from '../../apps/console/src/api/idempotency-key';

const ACT = { method: 'POST' } as const;

afterEach(() => jest.restoreAllMocks());

function answer(body: string, status: number): void {
  const headers = { 'x-request-id': 'r-1' };
  jest.spyOn(globalThis, 'fetch').mockImplementation(async () => new Response(body, { status, headers }));
}

const errorOf = async (sent: Promise<unknown>): Promise<ApiError> =>
  sent.then(
    () => Promise.reject(new Error('It succeeded')),
    (error: ApiError) => error,
  );

describe('an act of the console', () => {
  it.each([
    ['of a proxy', '<html>', 504],
    ['of the service', '{"error":{"code":"upstream_error","message":"A part of the service failed."}}', 500],
  ])('may have been done after a 5xx %s', async (_, body, status) => {
    answer(body, status);
    expect(await errorOf(send('/x', ACT))).toMatchObject({ code: ANSWER_LOST, status, requestId: 'r-1' });
  });

  it.each(['', '{"id":', '<html>'])(
    'may have been done where the body of a success cannot be read: %p',
    async (body) => {
      answer(body, 201);
      expect(await errorOf(sendForJson('/x', ACT))).toMatchObject({ code: ANSWER_LOST, requestId: 'r-1' });
    },
  );

  it('was not done where the service refuses it', async () => {
    answer('{"error":{"code":"forbidden","message":"No."}}', 403);
    expect(await errorOf(send('/x', ACT))).toMatchObject({ code: 'forbidden', status: 403 });
  });
});

describe('a read of the console', () => {
  it.each([{}, { ...ACT, onlyReads: true as const }])('failed, and no more, after a 5xx: %p', async (options) => {
    answer('', 504);
    expect(await errorOf(send('/x', options))).toMatchObject({ code: 'no_envelope', status: 504 });
  });

  it('is one that may succeed later where its answer breaks off', async () => {
    answer('{"id":', 200);
    expect(await errorOf(sendForJson('/x'))).toMatchObject({ code: 'unreachable', status: 0 });
  });
});

describe('an error that only the console knows', () => {
  it.each(CONSOLE_CODES)('has a cure: %s', (code) => {
    expect(ownCure(code)).toMatch(/\.$/);
  });

  it('leaves the cure of any other to the catalogue', () => {
    expect(ownCure('forbidden')).toBeNull();
  });

  it.each([
    ['<h1>503 Service Unavailable</h1>', 503, 'The service does not answer at present', true],
    ['', 502, 'The service does not answer at present', true],
    ['<h1>413 Request Entity Too Large</h1>', 413, 'refused this with 413', false],
  ])('says of an answer that is not of the API what sent it: %p', async (body, status, text, outage) => {
    answer(body, status);
    const error = await errorOf(send('/x'));
    expect(error.message).toContain(text);
    expect(isOutage(error)).toBe(outage);
  });
});

describe('an act that is sent once', () => {
  const under = (keys: string[], outcome: () => Promise<unknown>) => (key: string) => {
    keys.push(key);
    return outcome();
  };
  const refusedWith = (body: string, status: number) => (): Promise<unknown> => {
    answer(body, status);
    return send('/x', ACT);
  };
  const unknown = refusedWith('', 504);
  const refused = refusedWith('{"error":{"code":"forbidden","message":"No."}}', 403);
  const reused = refusedWith('{"error":{"code":"idempotency_key_reuse","message":"No."}}', 422);
  const done = async (): Promise<unknown> => 1;

  it('keeps its key until an answer says what became of it', async () => {
    const keys: string[] = [];
    for (const outcome of [unknown, refused, unknown]) await errorOf(sendOnce('grant', under(keys, outcome)));
    expect(isUnanswered('grant')).toBe(true);
    expect(isUnanswered('another')).toBe(false);
    await sendOnce('grant', under(keys, done));
    expect(isUnanswered('grant')).toBe(false);
    await sendOnce('grant', under(keys, done));
    expect(new Set(keys.slice(0, 4)).size).toBe(1);
    expect(keys[4]).not.toBe(keys[0]);
  });

  it('has the same key while its answer is awaited', async () => {
    const keys: string[] = [];
    let end = (_: unknown): void => undefined;
    const first = sendOnce(
      'slow',
      under(keys, () => new Promise((resolve) => (end = resolve))),
    );
    await sendOnce('slow', under(keys, done));
    end(1);
    await first;
    expect(keys[1]).toBe(keys[0]);
  });

  it('keeps the key of two that were sent at once, of which one was refused and the other had no answer', async () => {
    const keys: string[] = [];
    let refuse = (_: unknown): void => undefined;
    const awaited = new Promise((resolve) => (refuse = resolve));
    const first = errorOf(
      sendOnce(
        'both',
        under(keys, () => awaited.then(refused)),
      ),
    );
    const second = errorOf(
      sendOnce(
        'both',
        under(keys, async () => {
          refuse(1);
          await first;
          return unknown();
        }),
      ),
    );
    await Promise.all([first, second]);
    expect(isUnanswered('both')).toBe(true);
    await sendOnce('both', under(keys, done));
    expect(new Set(keys).size).toBe(1);
  });

  it.each([
    ['it was refused at once', [refused]],
    ['the service knows the key with other content, so that it was done', [unknown, reused]],
  ])('is over where %s', async (_, outcomes) => {
    const keys: string[] = [];
    for (const outcome of outcomes) await errorOf(sendOnce('over', under(keys, outcome)));
    await sendOnce('over', under(keys, done));
    expect(keys.at(-1)).not.toBe(keys[0]);
  });
});

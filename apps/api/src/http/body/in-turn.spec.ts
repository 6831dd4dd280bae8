import { ServerResponse, type IncomingMessage } from 'node:http';
import { EXAMINATION_MS, SMALL_SUBMISSION_BYTES, SUBMISSION_REST } from '@millrace/jobs';
import { Refusal } from '@millrace/contracts';
import { BodiesInFlight } from '@millrace/platform';
import { holdBytes } from './hold-bytes';
import { inTurn } from './in-turn';
import { withContext } from '../../fixtures/with-context';

/** The larger one is the smallest that is examined in a thread. */
const [small, large] = [Buffer.alloc(SMALL_SUBMISSION_BYTES), Buffer.alloc(SMALL_SUBMISSION_BYTES + 1)];

const nextTick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('what bodies ask for', () => {
  const bodies = new BodiesInFlight({ bytes: 1_000_000, bytesPerPayer: 1_000_000 }, SUBMISSION_REST);
  const of = (payer: string): object => withContext({}, { payer, bodies });

  it('is done one after the other when they are large and of one account, and else at once', async () => {
    const begun: string[] = [];
    let end: () => void = () => undefined;
    const first = inTurn(of('a'), large, () => {
      begun.push('first');
      return new Promise<void>((resolve) => (end = resolve));
    });
    const work = (name: string): (() => Promise<void>) => {
      return async () => void begun.push(name);
    };
    await nextTick();
    const second = inTurn(of('a'), large, work('second'));
    await inTurn(of('a'), small, work('small'));
    await inTurn(of('b'), large, work('of another'));
    expect(begun).toEqual(['first', 'small', 'of another']);
    end();
    await Promise.all([first, second]);
    expect(begun.at(-1)).toBe('second');
  });

  it.each([
    [10, 30],
    [100, 300],
  ])(
    'waits three times as long as was spent on the last large one of its account, also where that one has been answered: %d ms',
    async (spentMs, restMs) => {
      jest.useFakeTimers();
      try {
        await inTurn(of(`c${spentMs}`), large, async (spend) => spend(spentMs));
        let hasBegun = false;
        const second = inTurn(of(`c${spentMs}`), large, async () => void (hasBegun = true));
        await jest.advanceTimersByTimeAsync(restMs - 1);
        expect(hasBegun).toBe(false);
        await jest.advanceTimersByTimeAsync(1);
        await second;
      } finally {
        jest.useRealTimers();
      }
    },
  );

  it('waits three times as long after the longest examination that there is, too', async () => {
    jest.useFakeTimers();
    try {
      await inTurn(of('d'), large, async (spend) => spend(EXAMINATION_MS));
      let hasBegun = false;
      const second = inTurn(of('d'), large, async () => void (hasBegun = true));
      await jest.advanceTimersByTimeAsync(3 * EXAMINATION_MS - 1);
      expect(hasBegun).toBe(false);
      await jest.advanceTimersByTimeAsync(1);
      await second;
    } finally {
      jest.useRealTimers();
    }
  });
});

describe('a large body that waited in vain', () => {
  it('keeps the next of its account no longer: no thread worked on it', async () => {
    jest.useFakeTimers();
    try {
      const bodies = new BodiesInFlight({ bytes: 1_000_000, bytesPerPayer: 1_000_000 }, SUBMISSION_REST);
      const of = (): object => withContext({}, { payer: 'e', bodies });
      const late = new Error('the database did not answer');
      const first = inTurn(of(), large, () => new Promise((_, fail) => setTimeout(() => fail(late), EXAMINATION_MS)));
      const refused = expect(first).rejects.toBe(late);
      await jest.advanceTimersByTimeAsync(EXAMINATION_MS);
      await refused;
      let hasBegun = false;
      const second = inTurn(of(), large, async () => void (hasBegun = true));
      await jest.advanceTimersByTimeAsync(1);
      expect(hasBegun).toBe(true);
      await second;
    } finally {
      jest.useRealTimers();
    }
  });
});

describe('a large body whose sender loses access before its turn comes', () => {
  const bodies = new BodiesInFlight({ bytes: 1_000_000, bytesPerPayer: 1_000_000 }, SUBMISSION_REST);
  const gone = new Refusal('unauthorized', 'The key was revoked.');

  it.each([
    [1_999, true],
    [2_000, false],
  ])('is asked for again once it has waited two seconds, and its work is not done: %d ms', async (ms, isDone) => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick'] });
    try {
      let end: () => void = () => undefined;
      const of = (confirm: () => Promise<void>): object => withContext({}, { payer: `of ${ms}`, bodies, confirm });
      const first = inTurn(
        of(() => Promise.resolve()),
        large,
        () => new Promise<void>((resolve) => (end = resolve)),
      );
      await nextTick();
      const confirm = jest.fn(() => Promise.reject(gone));
      let hasBegun = false;
      const second = inTurn(of(confirm), large, async () => void (hasBegun = true));
      const outcome = second.then(
        () => 'done',
        (error: unknown) => error,
      );
      await jest.advanceTimersByTimeAsync(ms);
      end();
      await first;
      await jest.advanceTimersByTimeAsync(0);
      expect(await outcome).toBe(isDone ? 'done' : gone);
      expect([hasBegun, confirm.mock.calls.length]).toEqual([isDone, isDone ? 0 : 1]);
    } finally {
      jest.useRealTimers();
    }
  });
});

describe('a large body whose sender left before its turn came', () => {
  const full = 100_000;
  const bodies = new BodiesInFlight({ bytes: 2 * full, bytesPerPayer: full });
  /** A request of the account, with its answer. */
  const request = (): { res: ServerResponse } =>
    withContext({ res: new ServerResponse({} as IncomingMessage) }, { payer: 'a', bodies });

  it('counts as in flight for as long as it waits, and what it asks for is not done', async () => {
    let end: () => void = () => undefined;
    const [first, second] = [request(), request()];
    for (const each of [first, second]) holdBytes(each, large.byteLength);
    const underWay = inTurn(first, large, () => new Promise<string>((resolve) => (end = () => resolve('done'))));
    await nextTick();
    let hasBegun = false;
    const waiting = inTurn(second, large, async () => void (hasBegun = true));
    // Work that is under way goes on.
    for (const { res } of [first, second]) res.emit('close');
    expect(() => bodies.take('a', full - large.byteLength)).toThrow('that are being processed');
    end();
    await expect(waiting).rejects.toMatchObject({ code: 'invalid_request', status: 400 });
    expect([await underWay, hasBegun]).toEqual(['done', false]);
    bodies.take('a', full);
    bodies.release('a', full);
  });

  it('does not wait at all when the sender has left before it asks for one', async () => {
    const [first, left] = [request(), request()];
    let end: () => void = () => undefined;
    const underWay = inTurn(first, large, () => new Promise<void>((resolve) => (end = resolve)));
    await nextTick();
    holdBytes(left, large.byteLength);
    left.res.emit('close');
    await expect(inTurn(left, large, () => Promise.resolve())).rejects.toMatchObject({ code: 'invalid_request' });
    end();
    await underWay;
  });

  it('counts no more once that is over, also where more of the request is held afterwards', async () => {
    const left = request();
    holdBytes(left, 10);
    left.res.emit('close');
    holdBytes(left, 20);
    bodies.take('a', full);
    bodies.release('a', full);
  });
});

import { createLogger } from '@millrace/platform';
import type { Turn, Watermarks } from '../rotation';
import { Dispatcher } from './dispatcher';
import { WATERMARK_TTL_MS } from './watermark-cache';

const KEPT_POOLS = 10_000;
const found: Watermarks = { pass: 7n, inFlightSince: new Date(0) };
const nobody: Turn = { job: null, inFlight: 0, found, skipped: false };

/** A dispatcher of pools that each have a worker and no jobs, and what its turns were asked for. */
function makeDispatcher(turn: Turn): {
  dispatcher: Dispatcher;
  asked: { watermarks: Watermarks | null; waits: boolean }[];
  pass: (ms: number) => void;
} {
  const asked: { watermarks: Watermarks | null; waits: boolean }[] = [];
  let nowMs = 0;
  const dispatcher = new Dispatcher(
    {} as never,
    {
      take: (_database, _poolId, _room, { watermarks, waitMs }) => {
        asked.push({ watermarks, waits: waitMs > 0 });
        return Promise.resolve([turn]);
      },
    },
    { list: () => Promise.resolve([]) },
    { find: () => Promise.resolve({ lookAhead: 2 } as never) },
    { room: () => Promise.resolve(1) },
    {} as never,
    createLogger('test', 'silent'),
    { modelWaitSeconds: 10 },
    () => nowMs,
  );
  return { dispatcher, asked, pass: (ms) => (nowMs += ms) };
}

/** Has other pools have a turn, as many as are kept. */
async function fillOthers(dispatcher: Dispatcher): Promise<void> {
  for (let pool = 0; pool < KEPT_POOLS; pool += 1) await dispatcher.fill(`other-${pool}`);
}

describe('what a dispatcher knows of pools', () => {
  it('is kept of a bounded number of them: each version of a deployment has one', async () => {
    const { dispatcher } = makeDispatcher(nobody);
    await dispatcher.fill('pool');
    await fillOthers(dispatcher);
    expect(dispatcher['watermarks'].size).toBe(KEPT_POOLS);
    expect(dispatcher['lockedAccounts'].size).toBe(KEPT_POOLS);
  });

  it('is read again where it was lost: the next turn reads from the start', async () => {
    const { dispatcher, asked, pass } = makeDispatcher(nobody);
    for (let reading = 0; reading < 2; reading += 1) {
      await dispatcher.fill('pool');
      pass(WATERMARK_TTL_MS);
    }
    await dispatcher.fill('pool');
    await dispatcher.fill('pool');
    expect(asked.at(-1)).toEqual({ watermarks: found, waits: false });
    await fillOthers(dispatcher);
    await dispatcher.fill('pool');
    expect(asked.at(-1)).toEqual({ watermarks: null, waits: false });
  });

  it('leaves an account that was skipped its turn where it was lost: it is skipped once more at most', async () => {
    const { dispatcher, asked } = makeDispatcher({ ...nobody, skipped: true });
    await dispatcher.fill('pool');
    await fillOthers(dispatcher);
    asked.length = 0;
    await dispatcher.fill('pool');
    expect(asked.map(({ waits }) => waits).slice(0, 2)).toEqual([false, true]);
  });
});

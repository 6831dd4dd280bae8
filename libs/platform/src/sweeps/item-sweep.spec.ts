import { ItemSweep } from './item-sweep';

const MINUTE_MS = 60_000;

/** Due items in the order of their keys; those in `poison` fail, those in `waiting` stay due. */
function world(due: string[], { poison = [], waiting = [], limit = 10 }: Partial<World> = {}): World & Driven {
  const state: World = { poison, waiting, limit };
  const tried: string[] = [];
  const failed: string[] = [];
  let nowMs = 0;
  let resting = 0;
  const sweep = new ItemSweep<string>(
    {
      limit,
      page: async (after, most) => due.filter((key) => after === null || key > after).slice(0, most),
      keyOf: (key) => key,
      work: async (key) => {
        tried.push(key);
        if (state.poison.includes(key)) throw new Error(`${key} cannot be swept`);
        if (state.waiting.includes(key)) return false;
        due.splice(due.indexOf(key), 1);
        return true;
      },
    },
    () => nowMs,
  );
  const report = { failed: (key: string) => failed.push(key), resting: (count: number) => (resting = count) };
  return Object.assign(state, {
    run: () => sweep.run(report),
    tried: () => tried.splice(0),
    failed: () => failed.splice(0),
    resting: () => resting,
    pass: (ms: number) => (nowMs += ms),
  });
}

const numbered = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${String(index).padStart(3, '0')}`);

interface World {
  poison: string[];
  waiting: string[];
  limit: number;
}
interface Driven {
  run(): Promise<number>;
  tried(): string[];
  failed(): string[];
  resting(): number;
  pass(ms: number): void;
}

describe('a sweep of items', () => {
  it('works on all others when one fails, and reports that one', async () => {
    const sweep = world(['a', 'b', 'c'], { poison: ['a'] });
    expect(await sweep.run()).toBe(2);
    expect(sweep.failed()).toEqual(['a']);
    expect(sweep.resting()).toBe(1);
  });

  it('lets an item that failed rest for longer each time, and takes it up again', async () => {
    const sweep = world(['a', 'b'], { poison: ['a'], waiting: ['b'] });
    const tries: number[] = [];
    for (let minute = 0; minute < 40; minute += 1) {
      await sweep.run();
      if (sweep.tried().includes('a')) tries.push(minute);
      sweep.pass(MINUTE_MS);
    }
    expect(tries).toEqual([0, 1, 3, 7, 15, 31]);
    sweep.poison = [];
    sweep.pass(32 * MINUTE_MS);
    expect(await sweep.run()).toBe(1);
    expect(sweep.resting()).toBe(0);
  });

  it('goes past full pages of failing items in the same run', async () => {
    const sweep = world([...numbered('a', 25), 'z'], { poison: numbered('a', 25) });
    expect(await sweep.run()).toBe(1);
    expect(sweep.failed()).toEqual(numbered('a', 25));
    sweep.tried();
    expect(await sweep.run()).toBe(0);
    expect(sweep.tried()).toEqual([]);
  });

  it('goes past a page whose items rest but for one that fails', async () => {
    const due = ['a', ...numbered('b', 9), 'z'];
    const sweep = world(due, { poison: numbered('b', 9), waiting: ['a', 'z'] });
    // The first round.
    for (let runs = 0; (await sweep.run()) > 0; runs += 1) expect(runs).toBeLessThan(100);
    sweep.poison.push('a');
    sweep.waiting = [];
    expect(await sweep.run()).toBe(1);
    expect(due).not.toContain('z');
  });

  it('fails after so many pages without a success, and goes on behind them in the next run', async () => {
    const bad = numbered('a', 150);
    const sweep = world([...bad, 'z'], { poison: bad });
    await expect(sweep.run()).rejects.toThrow('a000 cannot be swept');
    expect(sweep.tried()).toEqual(bad.slice(0, 100));
    expect(await sweep.run()).toBe(1);
    expect(sweep.tried()).toEqual([...bad.slice(100), 'z']);
  });

  it('ends a round whose items all have to wait, so that it pauses', async () => {
    const sweep = world(['a', 'b', 'c'], { waiting: ['a', 'b', 'c'], limit: 2 });
    expect(await sweep.run()).toBe(1);
    expect(await sweep.run()).toBe(0);
    expect(sweep.tried()).toEqual(['a', 'b', 'c']);
  });

  it('fails when everything that it tried failed, and not because of what rests', async () => {
    const sweep = world(['a', 'b'], { poison: ['a', 'b'] });
    await expect(sweep.run()).rejects.toThrow('a cannot be swept');
    expect(await sweep.run()).toBe(0);
    expect(sweep.tried()).toEqual(['a', 'b']);
  });

  it('forgets the failures of items that are gone', async () => {
    const due = ['a'];
    const sweep = world(due, { poison: ['a'] });
    await sweep.run().catch(() => 0);
    due.pop();
    await sweep.run();
    expect(sweep.resting()).toBe(0);
  });
});

import fc from 'fast-check';
import { judge, type RunFacts } from './watchdog';

const BOUNDS = { muteMs: 10, silenceMs: 1_000, stuckMs: 30, deadThreadMs: 5, foreignMs: 500, unreachableMs: 100 };

const WELL: RunFacts = {
  nowMs: 10_000,
  postedMs: 9_990,
  lastSignMs: 9_999,
  place: 'running',
  isBehindAnother: true,
  unreachableSinceMs: null,
  deadThreadMs: null,
  reopened: 0,
};

function judged(changes: Partial<RunFacts>): string {
  const judgement = judge({ ...WELL, ...changes }, BOUNDS);
  return judgement.kind === 'lost' ? judgement.reason : judgement.kind;
}

describe('the watchdog', () => {
  it('waits while the run gives signs of life', () => {
    expect(judged({})).toBe('wait');
  });

  it('opens the socket again after a silence, each time after one twice as long', () => {
    expect(judged({ lastSignMs: 9_991 })).toBe('wait');
    expect(judged({ lastSignMs: 9_990 })).toBe('reopen');
    expect(judged({ lastSignMs: 9_990, reopened: 1 })).toBe('wait');
    expect(judged({ lastSignMs: 9_980, reopened: 1 })).toBe('reopen');
  });

  it('gives a run up that has been silent too long', () => {
    expect(judged({ lastSignMs: 9_000 })).toBe('ComfyUI has said nothing about the run for 1 s.');
  });

  it('gives a run up at once that the server does not know', () => {
    expect(judged({ place: 'gone' })).toContain('no longer knows the run');
  });

  it('gives a run up when nothing answers, and not before', () => {
    expect(judged({ place: 'unknown', unreachableSinceMs: 9_901 })).toBe('wait');
    expect(judged({ place: 'unknown', unreachableSinceMs: 9_900 })).toContain('has not answered for 0.1 s');
  });

  it('gives a run up soon when the log has shown the thread’s end, unless more is printed', () => {
    expect(judged({ deadThreadMs: 9_995, lastSignMs: 9_994 })).toContain('runs prompts has ended');
    expect(judged({ deadThreadMs: 9_996, lastSignMs: 9_994 })).toBe('wait');
    expect(judged({ deadThreadMs: 9_990, lastSignMs: 9_994 })).toBe('wait');
  });

  it('lets a run wait behind another longer than behind nothing', () => {
    const pending = { place: 'pending', lastSignMs: 0 } as const;
    expect(judged({ ...pending, isBehindAnother: false, postedMs: 9_971 })).toBe('wait');
    expect(judged({ ...pending, isBehindAnother: false, postedMs: 9_970 })).toContain('although nothing else runs');
    expect(judged({ ...pending, postedMs: 9_501 })).toBe('wait');
    expect(judged({ ...pending, postedMs: 9_500 })).toContain('waited 0.5 s behind another');
  });

  it('gives every run up in the end that gives no sign', () => {
    const facts = fc.record({
      nowMs: fc.constant(1e9),
      postedMs: fc.constant(0),
      lastSignMs: fc.constant(0),
      place: fc.constantFrom('pending', 'running', 'gone', 'unknown'),
      isBehindAnother: fc.boolean(),
      unreachableSinceMs: fc.constantFrom(null, 0),
      deadThreadMs: fc.constantFrom(null, 0),
      reopened: fc.nat(40),
    }) as fc.Arbitrary<RunFacts>;
    fc.assert(fc.property(facts, (given) => judge(given, BOUNDS).kind === 'lost'));
  });
});

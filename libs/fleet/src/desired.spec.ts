import fc from 'fast-check';
import { workersWanted, type WorkerNeed } from './desired';

const count = fc.nat({ max: 50 });
const needs: fc.Arbitrary<WorkerNeed> = fc
  .record({
    minWorkers: count,
    more: count,
    idleSeconds: fc.nat({ max: 600 }),
    stopped: fc.boolean(),
    deleted: fc.boolean(),
    waitingJobs: count,
    runningJobs: count,
    attemptsPerWorker: fc.integer({ min: 1, max: 8 }),
    current: count,
    surplusSeconds: fc.option(fc.nat({ max: 1_200 })),
  })
  .map(({ more, waitingJobs, ...need }) => ({
    ...need,
    maxWorkers: Math.max(1, need.minWorkers + more),
    pendingJobs: waitingJobs + need.runningJobs,
  }));
const running = needs.map((need) => ({ ...need, stopped: false, deleted: false }));
const idle: WorkerNeed = {
  minWorkers: 0,
  maxWorkers: 3,
  idleSeconds: 60,
  stopped: false,
  deleted: false,
  pendingJobs: 0,
  runningJobs: 0,
  attemptsPerWorker: 1,
  current: 0,
  surplusSeconds: null,
};

describe('the workers that a pool is to have', () => {
  it('are between the least and the most while it is wanted', () => {
    fc.assert(
      fc.property(running, (need) => {
        const wanted = workersWanted(need);
        expect(wanted).toBeGreaterThanOrEqual(need.minWorkers);
        expect(wanted).toBeLessThanOrEqual(need.maxWorkers);
      }),
    );
  });

  it('are enough for all jobs, or the most', () => {
    fc.assert(
      fc.property(running, (need) => {
        const wanted = workersWanted(need);
        expect(wanted === need.maxWorkers || wanted * need.attemptsPerWorker >= need.pendingJobs).toBe(true);
      }),
    );
  });

  it('never become fewer with more jobs', () => {
    fc.assert(
      fc.property(running, count, (need, more) => {
        const busier = { ...need, pendingJobs: need.pendingJobs + more };
        expect(workersWanted(busier)).toBeGreaterThanOrEqual(workersWanted(need));
      }),
    );
  });

  it('stay as they are until the idle time is over, and then are what is needed', () => {
    fc.assert(
      fc.property(running, (need) => {
        const early = workersWanted({ ...need, surplusSeconds: null, idleSeconds: need.idleSeconds + 1 });
        expect(early).toBeGreaterThanOrEqual(Math.min(need.current, need.maxWorkers));
        const late = workersWanted({ ...need, surplusSeconds: need.idleSeconds });
        expect(late).toBe(workersWanted({ ...need, current: 0, surplusSeconds: null }));
      }),
    );
  });

  it('of a stopped deployment are none that are not there, nor more than its running jobs need', () => {
    fc.assert(
      fc.property(needs, (need) => {
        const wanted = workersWanted({ ...need, stopped: true, deleted: false });
        expect(wanted).toBeLessThanOrEqual(need.current);
        expect(wanted).toBeLessThanOrEqual(Math.ceil(need.runningJobs / need.attemptsPerWorker));
      }),
    );
  });

  it('of a deleted deployment are none', () => {
    fc.assert(fc.property(needs, (need) => expect(workersWanted({ ...need, deleted: true })).toBe(0)));
  });

  it.each([
    ['nothing to do', {}, 0],
    ['one job', { pendingJobs: 1 }, 1],
    ['more jobs than workers', { pendingJobs: 9 }, 3],
    ['two attempts to a worker', { pendingJobs: 3, attemptsPerWorker: 2 }, 2],
    ['an idle worker, just now', { current: 1, surplusSeconds: 59 }, 1],
    ['an idle worker, long since', { current: 1, surplusSeconds: 60 }, 0],
    ['more workers than are allowed now', { current: 9, surplusSeconds: 0, pendingJobs: 9 }, 3],
  ] as const)('with %s', (_what, more, wanted) => {
    expect(workersWanted({ ...idle, ...more })).toBe(wanted);
  });
});

import type { FleetMember } from './fleet';
import type { ReportedWorker } from './served-pool.store';
import { StartWatch, placementsOf } from './start-watch';

const worker = (id: string, more: Partial<ReportedWorker> = {}): ReportedWorker => ({
  id,
  poolId: 'p',
  host: id,
  pid: 1,
  ready: true,
  wasReady: true,
  draining: false,
  drained: false,
  capacity: 1,
  joined: false,
  problem: null,
  unfitSeconds: null,
  silentSeconds: null,
  scheduleMs: null,
  pullMs: null,
  bootMs: 700,
  modelsMs: null,
  warmUpMs: null,
  ...more,
});
const member = (id: string, placed?: FleetMember['placed']): FleetMember => ({
  id,
  phase: 'running',
  reason: null,
  revision: 'r',
  startedAt: new Date(0),
  host: id,
  pid: null,
  ...(placed && { placed }),
});
const ids = (workers: ReportedWorker[]): string[] => workers.map(({ id }) => id);

describe('workers that become ready', () => {
  it('are named once, by a controller that has seen the step before', () => {
    const watch = new StartWatch();
    expect(watch.newlyReady([worker('old')])).toEqual([]);
    expect(ids(watch.newlyReady([worker('old'), worker('a', { wasReady: false })]))).toEqual([]);
    expect(ids(watch.newlyReady([worker('old'), worker('a'), worker('at once')]))).toEqual(['a', 'at once']);
    expect(ids(watch.newlyReady([worker('old'), worker('a'), worker('at once')]))).toEqual([]);
  });

  it('are left to the controller that led meanwhile', () => {
    const watch = new StartWatch();
    watch.newlyReady([]);
    watch.forget();
    expect(watch.newlyReady([worker('a')])).toEqual([]);
  });
});

describe('what came before the process of a worker', () => {
  const placed = { scheduleMs: 2_000, pullMs: 30_000 };

  it('is recorded of the worker that registered from there', () => {
    const groups = [{ poolId: 'p', members: [member('a', placed), member('b', placed)] }];
    expect(placementsOf(groups, [worker('b')])).toEqual([{ workerId: 'b', placed }]);
  });

  it('is recorded once, and not where the fleet does not say', () => {
    const groups = [{ poolId: 'p', members: [member('a', placed), member('b')] }];
    const nothing = { scheduleMs: null, pullMs: null };
    expect(placementsOf(groups, [worker('a', { scheduleMs: 1 }), worker('b')])).toEqual([]);
    expect(placementsOf([{ poolId: 'p', members: [member('a', nothing)] }], [worker('a')])).toEqual([]);
  });
});

import { engineClassOf, readEngineClasses } from '@millrace/deployments';
import type { FleetMember } from './fleet';
import { NEW_GROUP, planPool, type PoolFacts } from './plan';
import type { ReportedWorker } from './served-pool.store';

const [spec] = readEngineClasses(JSON.stringify({ classes: [{ name: 'cpu', engine: 'cpu', startSeconds: 60 }] }));
if (spec === undefined) throw new Error('there is one class');
const engineClass = engineClassOf(spec);
const NOW = new Date('2026-01-01T12:00:00Z');
const ago = (seconds: number): Date => new Date(NOW.getTime() - seconds * 1_000);
const pool = {
  poolId: 'p',
  engineClass: 'cpu',
  minWorkers: 0,
  maxWorkers: 3,
  idleSeconds: 60,
  stopped: false,
  deleted: false,
  lastCapacity: null,
};
const member = (id: string, more: Partial<FleetMember> = {}): FleetMember => ({
  id,
  phase: 'running',
  reason: null,
  revision: engineClass.revision,
  startedAt: ago(10),
  host: id,
  pid: null,
  ...more,
});
const worker = (id: string, more: Partial<ReportedWorker> = {}): ReportedWorker => ({
  id: `w-${id}`,
  poolId: 'p',
  host: id,
  pid: 1,
  ready: true,
  wasReady: true,
  draining: false,
  drained: false,
  joined: false,
  capacity: 1,
  problem: null,
  unfitSeconds: null,
  silentSeconds: null,
  scheduleMs: null,
  pullMs: null,
  bootMs: null,
  modelsMs: null,
  warmUpMs: null,
  ...more,
});
const demand = (pendingJobs: number, busy: string[] = []): PoolFacts['demand'] => ({
  pendingJobs,
  runningJobs: busy.length,
  busyWorkers: new Set(busy.map((id) => `w-${id}`)),
});
const plan = (more: Partial<PoolFacts>): ReturnType<typeof planPool> =>
  planPool({
    pool,
    engineClass,
    demand: demand(0),
    members: [],
    workers: [],
    group: NEW_GROUP,
    now: NOW,
    ...more,
  });

describe('a step for a pool', () => {
  it('starts what jobs need, and says so', () => {
    const { order, group } = plan({ demand: demand(2) });
    expect(order).toMatchObject({ size: 2, leaving: [] });
    expect(group).toMatchObject({ phase: 'starting', reason: 'starting 2 of 2 workers' });
  });

  it('starts nothing more while what it started comes up', () => {
    expect(plan({ demand: demand(2), members: [member('a'), member('b')] }).order).toMatchObject({ size: 2 });
  });

  it('starts from zero as many as its jobs need by what its latest worker ran at once', () => {
    const known = { ...pool, lastCapacity: 4 };
    const size = (jobs: number, workers: ReportedWorker[] = []): number | undefined =>
      plan({ pool: known, demand: demand(jobs), workers, members: workers.map(({ host }) => member(host)) }).order
        ?.size;
    expect([size(1), size(4), size(5)]).toEqual([1, 1, 2]);
    // What is there now counts, not what there was.
    expect(size(2, [worker('a')])).toBe(2);
  });

  it('keeps idle workers for the idle time, then drains one, and stops it when it knows', () => {
    const idle = { members: [member('a')], workers: [worker('a')] };
    const first = plan(idle);
    expect([first.drain, first.order?.size, first.group.surplusSince]).toEqual([[], 1, NOW]);
    const surplus = { ...NEW_GROUP, surplusSince: ago(60) };
    const later = plan({ ...idle, group: surplus });
    expect([later.drain, later.order?.leaving]).toEqual([['w-a'], []]);
    const asked = { members: [member('a')], workers: [worker('a', { ready: false, draining: true })] };
    expect(plan({ ...asked, group: surplus }).order?.leaving).toEqual([]);
    const knows = { members: [member('a')], workers: [worker('a', { ready: false, draining: true, drained: true })] };
    expect(plan({ ...knows, group: surplus }).order).toMatchObject({ size: 0, leaving: ['a'] });
  });

  it('never drains nor stops a busy worker', () => {
    const members = [member('a'), member('b')];
    const workers = [worker('a'), worker('b', { ready: false, draining: true, drained: true })];
    const { drain, order } = plan({
      members,
      workers,
      pool: { ...pool, stopped: true },
      demand: demand(0, ['a', 'b']),
    });
    expect([drain, order?.leaving]).toEqual([[], []]);
  });

  it('drains the idle one of two, wherever the busy one stands', () => {
    const surplus = { ...NEW_GROUP, surplusSince: ago(60) };
    const two = { members: [member('a'), member('b')], workers: [worker('a'), worker('b')], group: surplus };
    expect(plan({ ...two, demand: demand(1, ['a']) }).drain).toEqual(['w-b']);
    expect(plan({ ...two, demand: demand(1, ['b']) }).drain).toEqual(['w-a']);
  });

  it('lets what is not ready yet go before what is', () => {
    const surplus = { ...NEW_GROUP, surplusSince: ago(60) };
    const two = { members: [member('a'), member('b')], workers: [worker('a')], group: surplus };
    const { drain, order } = plan({ ...two, pool: { ...pool, minWorkers: 1 } });
    expect([drain, order?.leaving]).toEqual([[], ['b']]);
  });

  it('lets what waits for room go before what comes up on a machine', () => {
    const room = (lackedSince: Date | null): Partial<FleetMember> => ({
      phase: 'starting',
      room: { needs: '', lackedSince },
    });
    const [comes, waits] = [member('a', room(null)), member('b', room(ago(1)))];
    for (const members of [
      [comes, waits],
      [waits, comes],
    ]) {
      const step = plan({ members, pool: { ...pool, minWorkers: 1 }, group: { ...NEW_GROUP, surplusSince: ago(60) } });
      expect(step.order?.leaving).toEqual(['b']);
    }
  });

  it('lets the workers of a stopped deployment go when they are idle, and starts none', () => {
    const stopped = { ...pool, stopped: true, minWorkers: 2 };
    expect(plan({ pool: stopped, demand: demand(3) }).order?.size).toBe(0);
    const { drain } = plan({ pool: stopped, members: [member('a')], workers: [worker('a')] });
    expect(drain).toEqual(['w-a']);
  });

  it('starts what workers that joined from outside do not do, and lets its own go after the idle time when they come', () => {
    const joined = worker('outside', { joined: true, capacity: 2 });
    const steady = { ...pool, minWorkers: 1 };
    expect(plan({ pool: steady, workers: [joined] }).group).toMatchObject({ wanted: 0, phase: 'idle' });
    expect(plan({ pool: steady, workers: [joined], demand: demand(2) }).order?.size).toBe(0);
    expect(plan({ pool: steady, workers: [joined], demand: demand(4) }).order?.size).toBe(2);
    for (const away of [{ ready: false }, { draining: true }])
      expect(plan({ pool: steady, workers: [{ ...joined, ...away }] }).order?.size).toBe(1);
    const own = { pool: steady, members: [member('a')], workers: [worker('a'), joined] };
    expect(plan(own)).toMatchObject({ drain: [], group: { surplusSince: NOW } });
    const later = plan({ ...own, group: { ...NEW_GROUP, surplusSince: ago(60) } });
    expect([later.drain, later.group.wanted]).toEqual([['w-a'], 0]);
  });

  it('starts another one at once where a machine was taken away: no start has failed', () => {
    const lost = [member('a', { phase: 'lost', reason: 'its node gave it up: spot' }), member('b')];
    const { order, group } = plan({ demand: demand(2), members: lost, workers: [worker('a'), worker('b')] });
    expect(order).toMatchObject({ size: 2, leaving: [] });
    expect(group).toMatchObject({
      phase: 'starting',
      reason: 'starting 1 of 2 workers: its node gave it up: spot',
      ...{ failures: 0, failure: null, nextTryAt: null },
    });
  });

  it('waits longer after each start that failed, and says why', () => {
    const broken = [member('a', { phase: 'failed', reason: 'no such engine' })];
    const first = plan({ demand: demand(1), members: broken });
    expect(first.order?.size).toBe(0);
    expect(first.group).toMatchObject({
      phase: 'failed',
      reason: 'engine failed to start: no such engine',
      failures: 1,
    });
    const waiting = plan({ demand: demand(1), members: broken, group: first.group });
    expect([waiting.order?.size, waiting.group.failures]).toEqual([0, 1]);
    const due = plan({ demand: demand(1), members: broken, group: { ...first.group, nextTryAt: ago(0) } });
    expect([due.order?.size, due.group.failures, due.group.nextTryAt]).toEqual([1, 1, null]);
    const again = plan({ demand: demand(1), members: broken, group: due.group });
    expect(again.group).toMatchObject({ failures: 2, nextTryAt: new Date(NOW.getTime() + 2_000) });
    const well = plan({ demand: demand(1), members: [member('b')], workers: [worker('b')], group: again.group });
    expect(well.group).toMatchObject({ phase: 'running', failures: 0, reason: null });
  });

  it('counts starts of a new revision that fail one after the other, although workers of the old one are ready', () => {
    const old = { demand: demand(1), members: [member('a', { revision: 'old' })], workers: [worker('a')] };
    const held = { ...NEW_GROUP, failures: 2, failure: 'no such engine', nextTryAt: new Date(NOW.getTime() + 1) };
    expect(plan({ ...old, group: held }).group).toMatchObject({ failures: 2, nextTryAt: held.nextTryAt });
    const broken = [...old.members, member('b', { phase: 'failed', reason: 'no such engine' })];
    const third = plan({ ...old, members: broken, group: { ...held, nextTryAt: null } }).group;
    expect(third).toMatchObject({ failures: 3, stuck: true });
    const replaced = { members: [...old.members, member('b')], workers: [worker('a'), worker('b')] };
    expect(plan({ ...old, ...replaced, group: third }).group).toMatchObject({ failures: 0, stuck: false });
  });

  it('calls a pool stuck when three starts have failed or its class is gone, until workers come or none are wanted', () => {
    const tried = (failures: number): PoolFacts['group'] => ({ ...NEW_GROUP, failures, failure: 'no such engine' });
    const failing = { demand: demand(1), members: [member('a', { phase: 'failed', reason: 'no such engine' })] };
    const stuck = (more: Partial<PoolFacts>): boolean => plan(more).group.stuck;
    expect([0, 1, 2].map((failures) => stuck({ ...failing, group: tried(failures) }))).toEqual([false, false, true]);
    expect(stuck({ demand: demand(1), group: tried(3) })).toBe(true);
    expect(stuck({ demand: demand(1), members: [member('b')], workers: [worker('b')], group: tried(3) })).toBe(false);
    expect(stuck({ group: tried(3) })).toBe(false);
    expect([stuck({ engineClass: null, demand: demand(1) }), stuck({ engineClass: null })]).toEqual([true, false]);
  });

  it('stops what is not ready within the time of its class, with what its worker says', () => {
    const members = [member('a', { startedAt: ago(61) })];
    const workers = [worker('a', { ready: false, wasReady: false, problem: 'no answer' })];
    const { order, group } = plan({ demand: demand(1), members, workers });
    expect(order?.leaving).toEqual(['a']);
    expect(group.reason).toBe('engine failed to start: not ready within 60 s: no answer');
  });

  it('replaces what was ready, and has been able to run nothing for longer than its class takes to start', () => {
    const sick = worker('a', { ready: false, problem: 'no answer', unfitSeconds: 61 });
    const one = {
      pool: { ...pool, maxWorkers: 1 },
      demand: demand(1),
      members: [member('a', { startedAt: ago(600) })],
    };
    const { drain, order, group } = plan({ ...one, workers: [sick] });
    expect([drain, order?.leaving, group.reason]).toEqual([
      [],
      ['a'],
      'engine failed to start: not ready for 60 s: no answer',
    ]);
    const ending = { ...one, members: [member('a', { phase: 'stopping' })], workers: [sick] };
    const due = plan({ ...ending, group: { ...group, nextTryAt: ago(0) } });
    expect(due.order).toMatchObject({ size: 1, leaving: [] });
  });

  it('waits as long as a start takes for one that can run nothing, and for what one runs', () => {
    const leaving = (unfitSeconds: number, more: Partial<PoolFacts> = {}): readonly string[] | undefined => {
      const workers = [worker('a', { ready: false, problem: 'no answer', unfitSeconds })];
      return plan({ demand: demand(1), members: [member('a', { startedAt: ago(600) })], workers, ...more }).order
        ?.leaving;
    };
    expect([leaving(60), leaving(61)]).toEqual([[], ['a']]);
    expect(leaving(61, { demand: demand(1, ['a']) })).toEqual([]);
    const silent = (silentSeconds: number, startSeconds: number): readonly string[] | undefined => {
      const workers = [worker('a', { ready: false, silentSeconds })];
      const members = [member('a', { startedAt: ago(600) })];
      return plan({ demand: demand(1), engineClass: { ...engineClass, startSeconds }, members, workers }).order
        ?.leaving;
    };
    expect([silent(60, 5), silent(61, 5), silent(90, 120), silent(121, 120)]).toEqual([[], ['a'], [], ['a']]);
    // Its host and process are those of one that went before it.
    expect(leaving(3_600, { members: [member('a')] })).toEqual([]);
  });

  it('starts nothing of a class that is gone, and lets what runs of it run', () => {
    const retired = { ...engineClass, retiredAt: NOW };
    const none = plan({ engineClass: retired, demand: demand(1) });
    expect([none.order?.size, none.group.reason]).toEqual([0, 'its class cpu is gone']);
    const one = plan({ engineClass: retired, demand: demand(1), members: [member('a')], workers: [worker('a')] });
    expect([one.order, one.group.reason]).toEqual([expect.objectContaining({ size: 1, leaving: [] }), null]);
    expect(plan({ engineClass: null, demand: demand(1) }).order).toBeNull();
  });

  it('brings workers of a new revision before the idle ones of the old one go', () => {
    const old = member('a', { revision: 'old' });
    const work = { demand: demand(1) };
    const first = plan({ ...work, members: [old], workers: [worker('a')] });
    expect([first.order?.size, first.drain]).toEqual([2, []]);
    const both = plan({ ...work, members: [old, member('b')], workers: [worker('a'), worker('b')] });
    expect([both.order?.size, both.drain]).toEqual([2, ['w-a']]);
  });

  describe('lets an old one that was never ready go at once', () => {
    const why = 'image cannot be pulled: not found';
    const broken = member('o', { revision: 'old', phase: 'starting', reason: why });
    const lacking = member('f', { phase: 'starting', reason: '0/1 nodes have the GPU' });
    const unready = worker('o', { ready: false, wasReady: false });
    it.each<[string, Partial<PoolFacts>]>([
      ['while the new one lacks its room', { demand: demand(1), members: [broken, lacking] }],
      ['before the new one is there', { demand: demand(1), members: [broken] }],
      ['beside a new one that is ready', { demand: demand(2), members: [broken, member('f')], workers: [worker('f')] }],
      ['where the deployment is stopped', { pool: { ...pool, stopped: true }, members: [broken] }],
      ['where none is wanted', { members: [broken], group: { ...NEW_GROUP, surplusSince: ago(600) } }],
      ['whose worker is up', { demand: demand(1), members: [broken, lacking], workers: [unready] }],
    ])('%s', (_when, facts) => {
      const { drain, order } = plan(facts);
      expect([drain, order?.leaving]).toEqual([[], ['o']]);
    });

    it('and keeps one that was ready, or is busy, until another one is ready in its place', () => {
      const was = worker('o', { ready: false });
      const step = plan({ demand: demand(1), members: [broken, lacking], workers: [was] });
      expect([step.drain, step.order?.leaving]).toEqual([[], []]);
      const busy = plan({ demand: demand(1, ['o']), members: [broken, lacking], workers: [unready] });
      expect([busy.drain, busy.order?.leaving]).toEqual([[], []]);
    });

    it('beside which none of the ready ones goes that is still needed', () => {
      const members = [broken, member('a', { revision: 'old' }), lacking];
      const { drain, order } = plan({ demand: demand(1), members, workers: [worker('a')] });
      expect([drain, order?.leaving, order?.size]).toEqual([[], ['o'], 2]);
    });
  });

  it('keeps what is wanted of the new revision while a busy worker of the old one finishes its job', () => {
    const old = member('a', { revision: 'old' });
    const busy = { demand: demand(1, ['a']), members: [old, member('b')] };
    const beside = plan({ ...busy, workers: [worker('a'), worker('b')] });
    expect([beside.drain, beside.order]).toEqual([[], expect.objectContaining({ size: 2, leaving: [] })]);
    const coming = { ...busy, members: [old, member('c', { revision: 'old' }), member('b')] };
    const two = { demand: demand(2, ['a', 'c']), workers: [worker('a', { capacity: 2 }), worker('c')] };
    expect(plan({ ...coming, ...two }).order?.leaving).toEqual([]);
    const stopped = plan({ ...busy, workers: [worker('a'), worker('b')], pool: { ...pool, stopped: true } });
    expect(stopped.drain).toEqual(['w-b']);
  });

  it('has twice its most workers at most, however often its class changes while they are busy', () => {
    const busy = ['a', 'b', 'c'];
    const old = busy.map((id) => member(id, { revision: 'old' }));
    const older = ['d', 'e', 'f'].map((id) => member(id, { revision: 'older' }));
    const size = (members: FleetMember[]): number | undefined => {
      const ids = members.map(({ id }) => id);
      const workers = ids.map((id) => worker(id));
      return plan({ demand: demand(9, ids), members, workers }).order?.size;
    };
    expect([size(old), size([...old, ...older.slice(1)]), size([...old, ...older])]).toEqual([6, 6, 6]);
  });

  it('names what keeps a member from starting', () => {
    const members = [member('a', { phase: 'starting', reason: 'no node has this GPU' })];
    expect(plan({ demand: demand(1), members }).group.reason).toBe('starting 1 of 1 workers: no node has this GPU');
  });

  describe('where no node has room for the new revision', () => {
    const needs = 'a GPU';
    const why = '0/1 nodes have the GPU';
    const old = (id: string): FleetMember => member(id, { revision: 'old', room: { needs, lackedSince: null } });
    const waiting = (id: string, seconds = 600, itsNeeds = needs): FleetMember =>
      member(id, { phase: 'starting', reason: why, room: { needs: itsNeeds, lackedSince: ago(seconds) } });
    const both = { ...pool, minWorkers: 2 };
    const workers = [worker('a'), worker('b')];
    const step = (members: FleetMember[], more: Partial<PoolFacts> = {}): ReturnType<typeof planPool> =>
      plan({ pool: both, members, workers, ...more });

    it('says so, and lets one old worker make room once none has come for ten minutes', () => {
      const early = step([old('a'), old('b'), waiting('c', 599), waiting('d', 599)]);
      expect([early.drain, early.order?.leaving]).toEqual([[], []]);
      expect(early.group).toMatchObject({ phase: 'stopping', reason: `replacing 2 workers: ${why}` });
      const late = step([old('a'), old('b'), waiting('c'), waiting('d')]);
      expect([late.drain, late.order?.leaving, late.order?.size]).toEqual([['w-a'], [], 4]);
    });

    it('lets the next one go only when a new one is ready in the place of the one before', () => {
      const draining = worker('a', { ready: false, draining: true, drained: true });
      const going = step([old('a'), old('b'), waiting('c'), waiting('d')], { workers: [draining, worker('b')] });
      expect([going.drain, going.order?.leaving]).toEqual([[], ['a']]);
      const ending = { ...old('a'), phase: 'stopping' as const };
      expect(step([ending, old('b'), waiting('c'), waiting('d')]).drain).toEqual([]);
      expect(step([old('b'), waiting('c'), waiting('d')], { workers: [worker('b')] }).drain).toEqual([]);
      expect(step([old('b'), member('c'), waiting('d')], { workers: [worker('b')] }).drain).toEqual([]);
      const broken = member('c', { phase: 'failed', reason: 'no such engine' });
      expect(step([old('b'), broken, waiting('d')], { workers: [worker('b')] }).drain).toEqual([]);
      const replaced = step([old('b'), member('c'), waiting('d')], { workers: [worker('b'), worker('c')] });
      expect(replaced.drain).toEqual(['w-b']);
    });

    it('lets an idle one go first, and a busy one finish what it runs', () => {
      const members = [old('a'), old('b'), waiting('c'), waiting('d')];
      expect(step(members, { demand: demand(1, ['a']) }).drain).toEqual(['w-b']);
      const busy = step(members, { demand: demand(2, ['a', 'b']) });
      expect([busy.drain, busy.order?.leaving]).toEqual([['w-a'], []]);
    });

    it('keeps them where their end would leave no room, or none is lacked', () => {
      const lone = { pool: { ...pool, minWorkers: 1 }, workers: [worker('a')] };
      expect(step([old('a'), waiting('c', 600, 'another GPU')], lone).drain).toEqual([]);
      expect(step([member('a', { revision: 'old' }), waiting('c')], lone).drain).toEqual([]);
      const refused = member('c', { phase: 'starting', reason: 'refused', room: { needs, lackedSince: null } });
      expect(step([old('a'), refused], lone).drain).toEqual([]);
      expect(step([old('a'), waiting('c')], lone).drain).toEqual(['w-a']);
    });
  });
});

import { GatewayReportSchema } from '@millrace/contracts';
import type { WorkerRegistration, WorkerReport } from '@millrace/deployments';
import type { EngineHealth } from '@millrace/engines';
import { HEARTBEAT_EVERY_MS, PoolMembership } from './pool-membership';
import type { PoolRegistry } from './pool-registry';

const fit = {
  healths: [],
  diskModels: [],
  modelCacheBytes: null,
  modelsNote: null,
  problem: null,
  capacity: 1,
  attemptMs: null,
  start: null,
};

let nowMs: number;
let isAway: boolean;
let reports: WorkerReport[];
let membership: PoolMembership;
/** Whether the pool knows the worker. */
let isKnown: boolean;
let registered: WorkerRegistration[];
beforeEach(() => {
  nowMs = 0;
  isAway = false;
  reports = [];
  isKnown = true;
  registered = [];
  jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
  const registry: PoolRegistry = {
    ensurePool: () => Promise.resolve(),
    register: (registration) => {
      isKnown = true;
      return Promise.resolve(void registered.push(registration));
    },
    heartbeat: (_id, report) => {
      reports.push(report);
      return isAway ? Promise.reject(new Error('away')) : Promise.resolve(isKnown ? 'ready' : null);
    },
    warmUp: () => Promise.resolve(null),
    models: () => Promise.resolve(null),
    publish: () => Promise.resolve(''),
  };
  const identity = { id: 'worker', poolId: 'pool', version: 'test' };
  membership = new PoolMembership({ identity, registry });
});
afterEach(() => jest.restoreAllMocks());

const beat = (): Promise<unknown> => membership.report('ready', fit).catch(() => undefined);

describe('a worker reaches PostgreSQL', () => {
  it('until no heartbeat has succeeded for two intervals, and again with the next that does', async () => {
    await beat();
    isAway = true;
    nowMs = 2 * HEARTBEAT_EVERY_MS;
    await beat();
    expect(membership.isInReach).toBe(true);
    nowMs += 1;
    expect(membership.isInReach).toBe(false);
    isAway = false;
    await beat();
    expect(membership.isInReach).toBe(true);
  });

  it('not when a claim failed, until a heartbeat succeeds that was sent more than a second later', async () => {
    membership.claimFailed();
    expect(membership.isInReach).toBe(false);
    nowMs = 1_000;
    await beat();
    expect(membership.isInReach).toBe(false);
    nowMs = 1_001;
    await beat();
    expect(membership.isInReach).toBe(true);
  });
});

describe('a report', () => {
  const engineWith = (problem: string): EngineHealth => ({ ready: false, problem, version: 't', residentModels: [] });
  const LONG = 5_000;

  it.each([
    ['an engine', { healths: [engineWith(`It ended. ${'x'.repeat(LONG)} the cause`)] }],
    ['the worker itself', { problem: `It ended. ${'x'.repeat(LONG)} the cause` }],
    ['the models of the deployment', { modelsNote: `It ended. ${'x'.repeat(LONG)} the cause` }],
  ])('with a long text of %s is one that a gateway takes, with its beginning and its end', async (_, part) => {
    await membership.report('ready', { ...fit, capacity: 0, ...part });
    const { problem, modelsNote } = GatewayReportSchema.parse(reports[0]);
    expect(problem ?? modelsNote).toMatch(/^It ended\. x+…x+ the cause$/);
    expect(problem ?? modelsNote).toHaveLength(2_000);
  });

  it.each([0, 1])('cuts no character in two, wherever the cut falls: %i', async (before) => {
    await membership.report('ready', { ...fit, problem: 'x'.repeat(before) + '🙂'.repeat(LONG) });
    const { problem } = GatewayReportSchema.parse(reports[0]);
    expect(problem?.isWellFormed()).toBe(true);
    expect(problem?.length).toBeGreaterThan(1_990);
  });
});

describe('a worker that its pool does not know any more', () => {
  beforeEach(async () => {
    await membership.register('cpu', 2);
    isKnown = false;
  });

  it('registers as before with its next heartbeat, and no more often than that', async () => {
    await beat();
    await beat();
    expect(isKnown).toBe(true);
    expect(registered).toHaveLength(2);
    expect(registered[1]).toEqual(registered[0]);
  });

  it('does not where it stops', async () => {
    await membership.report('stopped', fit);
    expect(registered).toHaveLength(1);
  });
});

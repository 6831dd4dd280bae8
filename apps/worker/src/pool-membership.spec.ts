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
let membership: PoolMembership;
beforeEach(() => {
  nowMs = 0;
  isAway = false;
  jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
  const registry: PoolRegistry = {
    ensurePool: () => Promise.resolve(),
    register: () => Promise.resolve(),
    heartbeat: () => (isAway ? Promise.reject(new Error('away')) : Promise.resolve('ready')),
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

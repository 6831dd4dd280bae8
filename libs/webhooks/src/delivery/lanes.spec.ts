import type { ClaimRoom, Lane } from '../messages';
import { ATTEMPTS_AT_ONCE, ATTEMPTS_PER_ACCOUNT, Lanes, SLOW_AT_ONCE, SLOW_FOR_MS } from './lanes';

interface Receiver {
  endpointId: string;
  accountId: string;
  /** How long each answer takes, by its number. */
  answerMs: (nth: number) => number;
}

interface Attempt extends Receiver {
  endsMs: number;
  tookMs: number;
}

/** Receivers that always have messages to come, and a process that claims as `claimMessages` does, on a clock of its own. */
class World {
  nowMs = 0;
  readonly lanes = new Lanes(() => this.nowMs);
  readonly underWay: Attempt[] = [];
  private readonly sent = new Map<string, number>();

  constructor(private readonly receivers: readonly Receiver[]) {}

  claim(lane: Lane): void {
    const room = this.lanes.room(lane);
    if (room.total <= 0) return;
    const claimed = this.take(room);
    this.lanes.turn(room, claimed);
    for (const attempt of claimed) this.lanes.begin(attempt);
    this.underWay.push(...claimed);
    if (claimed.length === 0 && room.after !== null) this.claim(lane);
  }

  pass(ms: number): void {
    this.nowMs += ms;
    for (const attempt of this.underWay.filter(({ endsMs }) => endsMs <= this.nowMs)) {
      this.underWay.splice(this.underWay.indexOf(attempt), 1);
      this.lanes.end(attempt, attempt.tookMs);
    }
    this.claim('slow');
    this.claim('quick');
  }

  private take({ lane, total, perEndpoint, perAccount, slow, endpoints, accounts, after }: ClaimRoom): Attempt[] {
    const taken: Attempt[] = [];
    for (const receiver of this.receivers) {
      const { endpointId, accountId } = receiver;
      if (slow.includes(endpointId) !== (lane === 'slow') || endpointId <= (after ?? '')) continue;
      for (let left = endpoints.get(endpointId) ?? perEndpoint; left > 0 && taken.length < total; left -= 1) {
        const ofAccount = taken.filter((attempt) => attempt.accountId === accountId).length;
        if (ofAccount >= (accounts.get(accountId) ?? perAccount)) break;
        taken.push(this.attemptOf(receiver));
      }
    }
    return taken;
  }

  private attemptOf(receiver: Receiver): Attempt {
    const nth = this.sent.get(receiver.endpointId) ?? 0;
    this.sent.set(receiver.endpointId, nth + 1);
    const tookMs = receiver.answerMs(nth);
    return { ...receiver, endsMs: this.nowMs + tookMs, tookMs };
  }
}

const answer = (lanes: Lanes, endpointId: string, durationMs: number, accountId = `of ${endpointId}`): void => {
  lanes.begin({ endpointId, accountId });
  lanes.end({ endpointId, accountId }, durationMs);
};

describe('the places of a process', () => {
  it('are taken by what is under way: endpoints that were slow and have nothing to send take none', () => {
    const lanes = new Lanes();
    for (let at = 0; at < 16; at += 1) answer(lanes, `dead ${at}`, 5_000);
    answer(lanes, 'live', 5_000);
    expect(lanes.room('slow')).toMatchObject({ total: SLOW_AT_ONCE, endpoints: new Map() });
    expect(lanes.room('slow').slow).toContain('live');
  });

  it('are not looked for in the slow lane where nobody is slow', () => {
    const lanes = new Lanes();
    answer(lanes, 'a', 5);
    expect(lanes.room('slow')).toMatchObject({ total: 0, slow: [] });
    expect(lanes.room('quick').total).toBe(ATTEMPTS_AT_ONCE);
  });

  it('stay those of the slow lane for minutes, also after an answer that was quick', () => {
    let nowMs = 0;
    const lanes = new Lanes(() => nowMs);
    answer(lanes, 'a', 5_000);
    nowMs = SLOW_FOR_MS - 1;
    answer(lanes, 'a', 5);
    expect(lanes.room('quick').slow).toEqual(['a']);
    nowMs = SLOW_FOR_MS;
    expect(lanes.room('quick').slow).toEqual([]);
  });

  it('of an account are few, however many endpoints it has', () => {
    const lanes = new Lanes();
    for (let at = 0; at < 3; at += 1) lanes.begin({ endpointId: `e${at}`, accountId: 'a' });
    expect(lanes.room('quick').accounts).toEqual(new Map([['a', ATTEMPTS_PER_ACCOUNT - 3]]));
    for (let at = 0; at < 3; at += 1) lanes.end({ endpointId: `e${at}`, accountId: 'a' }, 1);
    expect(lanes.room('quick')).toMatchObject({ accounts: new Map(), endpoints: new Map() });
  });

  it('are half at least for others, where a few accounts answer slowly and quickly in turn', () => {
    const hostile = Array.from({ length: 32 }, (_, at) => ({
      endpointId: `e${String(at).padStart(2, '0')}`,
      accountId: `a${at % 4}`,
      answerMs: (nth: number) => (nth % 5 === 4 ? 5 : 14_000),
    }));
    const world = new World(hostile);
    let most = 0;
    for (let step = 0; step < 3_000; step += 1) {
      world.pass(200);
      most = Math.max(most, world.underWay.length);
    }
    expect(most).toBeGreaterThan(0);
    expect(ATTEMPTS_AT_ONCE - most).toBeGreaterThanOrEqual(64);
  });

  it('are left to a quick endpoint of an account whose other endpoints are slow', () => {
    const slow = Array.from({ length: 4 }, (_, at) => ({
      endpointId: `e${at}`,
      accountId: 'a',
      answerMs: () => 14_000,
    }));
    const quick = { endpointId: 'quick', accountId: 'a', answerMs: () => 100 };
    const world = new World([...slow, quick]);
    let served = 0;
    let mostOfSlow = 0;
    for (let step = 0; step < 1_000; step += 1) {
      world.pass(200);
      if (world.nowMs <= 15_000) continue;
      if (world.underWay.some(({ endpointId }) => endpointId === quick.endpointId)) served += 1;
      mostOfSlow = Math.max(mostOfSlow, world.underWay.filter(({ accountId }) => accountId === 'a').length);
    }
    expect(served).toBeGreaterThan(900);
    expect(mostOfSlow).toBeLessThanOrEqual(ATTEMPTS_PER_ACCOUNT);
  });

  it('of the slow lane are half of those of an account', () => {
    const lanes = new Lanes();
    for (const endpointId of ['e0', 'e1']) answer(lanes, endpointId, 5_000, 'a');
    expect(lanes.room('slow')).toMatchObject({ perAccount: ATTEMPTS_PER_ACCOUNT / 2, accounts: new Map() });
    for (let at = 0; at < 3; at += 1) lanes.begin({ endpointId: 'e0', accountId: 'a' });
    for (let at = 0; at < 2; at += 1) lanes.begin({ endpointId: 'quick', accountId: 'a' });
    expect(lanes.room('slow').accounts).toEqual(new Map([['a', ATTEMPTS_PER_ACCOUNT / 2 - 3]]));
    expect(lanes.room('quick').accounts).toEqual(new Map([['a', ATTEMPTS_PER_ACCOUNT - 5]]));
    for (let at = 0; at < 8; at += 1) lanes.begin({ endpointId: 'quick', accountId: 'a' });
    expect(lanes.room('slow').accounts).toEqual(new Map([['a', 3]]));
  });

  it('of the slow lane come to each of many slow endpoints', () => {
    const slow = Array.from({ length: 100 }, (_, at) => ({
      endpointId: `e${String(at).padStart(2, '0')}`,
      accountId: `a${at}`,
      answerMs: () => 14_000,
    }));
    const world = new World(slow);
    for (const { endpointId, accountId } of slow) answer(world.lanes, endpointId, 14_000, accountId);
    const served = new Set<string>();
    for (let step = 0; step < 1_000; step += 1) {
      world.pass(200);
      for (const { endpointId } of world.underWay) served.add(endpointId);
    }
    expect(served.size).toBe(100);
    expect(world.underWay.length).toBeLessThanOrEqual(ATTEMPTS_AT_ONCE);
  });

  it('are left to a slow endpoint where quick ones take all that are free', () => {
    const quick = Array.from({ length: 40 }, (_, at) => ({
      endpointId: `e${String(at).padStart(2, '0')}`,
      accountId: `a${at % 10}`,
      answerMs: () => 1_900,
    }));
    const slow = { endpointId: 'slow', accountId: 'slow', answerMs: () => 5_000 };
    const world = new World([...quick, slow]);
    answer(world.lanes, slow.endpointId, 5_000, slow.accountId);
    let served = 0;
    for (let step = 0; step < 100; step += 1) {
      world.pass(200);
      if (world.underWay.some(({ endpointId }) => endpointId === slow.endpointId)) served += 1;
    }
    expect(served).toBeGreaterThan(90);
  });
});

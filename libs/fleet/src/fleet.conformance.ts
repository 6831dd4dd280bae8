import { eventually } from '@millrace/testing';
import type { EngineClass } from '@millrace/deployments';
import type { Fleet, Group, FleetMember } from './fleet';

/** A fleet to be examined, on something that runs, or stands in for it. */
export interface FleetUnderTest {
  fleet: Fleet;
  engineClass: EngineClass;
  /** Another revision of the same class. */
  nextRevision: EngineClass;
  /** A class whose workers end before they are ready, saying why. */
  brokenClass: EngineClass;
  /** Part of what the broken class says. */
  brokenReason: string;
  /** Members that really run, by the system itself. */
  countRunning(poolId: string): Promise<number>;
  /** End a member from outside, as a crash does. */
  crash(member: FleetMember): Promise<void>;
  close(): Promise<void>;
}

/** What holds for every fleet. */
export function describeFleet(name: string, open: () => Promise<FleetUnderTest>): void {
  describe(`the fleet ${name}`, () => {
    let under: FleetUnderTest;
    let pools = 0;
    let pool: string;
    beforeAll(async () => {
      under = await open();
    });
    beforeEach(() => {
      pool = `pool-${(pools += 1)}`;
    });
    afterEach(() => under.fleet.dissolve(pool));
    afterAll(() => under.close());

    const groupOf = async (poolId = pool): Promise<Group | undefined> =>
      (await under.fleet.observe()).find((group) => group.poolId === poolId);
    const membersOf = async (poolId = pool): Promise<FleetMember[]> => (await groupOf(poolId))?.members ?? [];
    const runningOf = async (poolId = pool): Promise<FleetMember[]> =>
      (await membersOf(poolId)).filter(({ phase }) => phase === 'running');
    const apply = (size: number, leaving: string[] = [], engineClass = under.engineClass): Promise<void> =>
      under.fleet.apply({ poolId: pool, engineClass, size, leaving });
    const runs = async (count: number, poolId = pool): Promise<FleetMember[]> => {
      await eventually(`${count} members to run`, async () => {
        return (await runningOf(poolId)).length === count && (await under.countRunning(poolId)) === count;
      });
      return runningOf(poolId);
    };

    it('starts as many members as are ordered, each with an id and the revision of its class', async () => {
      expect(await membersOf()).toEqual([]);
      await apply(2);
      const members = await runs(2);
      expect(new Set(members.map(({ id }) => id)).size).toBe(2);
      for (const member of members) {
        expect(member).toMatchObject({ revision: under.engineClass.revision, reason: null });
        expect(member.host).not.toBe('');
      }
    });

    it('starts nothing twice when an order is repeated, also at the same time', async () => {
      await Promise.all([apply(1), apply(1), apply(1)]);
      const before = await runs(1);
      await apply(1);
      await apply(1);
      expect((await runs(1)).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    });

    it('stops the member that is named, and no other', async () => {
      await apply(3);
      const [first, second, third] = await runs(3);
      await apply(2, [second?.id ?? '']);
      const left = await runs(2);
      expect(left.map(({ id }) => id).sort()).toEqual([first?.id, third?.id].sort());
    });

    it('goes to none and back', async () => {
      await apply(1);
      const [only] = await runs(1);
      await apply(0, [only?.id ?? '']);
      await runs(0);
      await apply(1);
      const [next] = await runs(1);
      expect(next?.id).not.toBe(only?.id);
    });

    it('has another member in the place of one that crashed', async () => {
      await apply(1);
      const [first] = await runs(1);
      if (first === undefined) throw new Error('no member runs');
      await under.crash(first);
      await eventually('the crash to be seen', async () =>
        (await membersOf()).every(({ id, phase }) => id !== first.id || phase === 'failed'),
      );
      await apply(1);
      const [second] = await runs(1);
      expect(second?.id).not.toBe(first.id);
      expect((await membersOf()).map(({ id }) => id)).not.toContain(first.id);
    });

    it('says why a member does not start, as long as no other is ordered in its place', async () => {
      await apply(1, [], under.brokenClass);
      await eventually('the failure to be seen', async () =>
        (await membersOf()).some(({ phase, reason }) => phase === 'failed' && reason?.includes(under.brokenReason)),
      );
      await apply(0);
      await runs(0);
    });

    it('keeps groups apart, and forgets one that is dissolved, at once or twice', async () => {
      const other = `pool-${(pools += 1)}`;
      await apply(1);
      await under.fleet.apply({ poolId: other, engineClass: under.engineClass, size: 1, leaving: [] });
      await runs(1);
      await runs(1, other);
      await under.fleet.dissolve(other);
      await under.fleet.dissolve(other);
      await eventually('the group to be gone', async () => (await membersOf(other)).length === 0);
      expect(await under.countRunning(other)).toBe(0);
      await runs(1);
    });

    it('has members of a new revision when the old ones left', async () => {
      await apply(1);
      const old = await runs(1);
      await apply(
        1,
        old.map(({ id }) => id),
        under.nextRevision,
      );
      await eventually('the new revision to run', async () => {
        const members = await runningOf();
        return members.length === 1 && members[0]?.revision === under.nextRevision.revision;
      });
    });
  });
}

import { StagingMemory, type PlaceInMemory } from './staging-memory';

const busy = expect.objectContaining({ code: 'rate_limited', retryAfterSeconds: 5 }) as Error;
const MIB = 1_048_576;
const MOST = { isShared: false, declaredBytes: null, mostBytes: 10 * MIB };

describe('the memory of uploads under way', () => {
  const open = (): StagingMemory => new StagingMemory(120 * MIB);

  /** An upload that has all the memory that one takes. */
  const full = (memory: StagingMemory, accountId: string, isShared = false): PlaceInMemory => {
    const place = memory.enter({ ...MOST, accountId, isShared });
    place.arrived(1_000 * MIB);
    return place;
  };
  const fill = (memory: StagingMemory, accountId: string, isShared = false): number => {
    for (let uploads = 0; ; uploads += 1) {
      try {
        full(memory, accountId, isShared);
      } catch (error) {
        expect(error).toEqual(busy);
        return uploads;
      }
    }
  };

  it('is a third of the whole for one account', () => {
    const memory = open();
    const [first] = ['a', 'a', 'a', 'a'].map((account) => full(memory, account));
    expect(() => memory.enter({ ...MOST, accountId: 'a', declaredBytes: MIB })).toThrow(busy);
    first?.leave();
    first?.leave();
    full(memory, 'a');
    expect(fill(memory, 'a')).toBe(0);
  });

  it('of three accounts that take all that they can leaves room for an upload of the next', () => {
    const memory = open();
    for (const account of ['a', 'b', 'c']) expect(fill(memory, account)).toBeGreaterThan(1);
    full(memory, 'd');
  });

  it('is limited for all accounts together', () => {
    const memory = open();
    for (let nth = 0; nth < 12; nth += 1) full(memory, `account-${nth}`);
    expect(fill(memory, 'another')).toBe(0);
    expect(() => memory.enter({ ...MOST, accountId: 'another', declaredBytes: MIB })).toThrow(busy);
    memory.enter({ ...MOST, accountId: 'another' }).arrived(30_000);
  });

  it('counts what has arrived, however much is declared, and of a large upload no more than it takes', () => {
    const memory = open();
    const places = Array.from({ length: 40 }, () => memory.enter({ ...MOST, accountId: 'a', declaredBytes: 5 * MIB }));
    for (const place of places) place.arrived(MIB / 4);
    const place = full(memory, 'b');
    place.arrived(2_000 * MIB);
    place.leave();
    full(memory, 'b');
  });

  it('is a third of the whole for accounts of demos together, which leave room for each other', () => {
    const memory = open();
    for (const account of ['a', 'b', 'c']) fill(memory, account, true);
    memory.enter({ ...MOST, accountId: 'd', isShared: true }).arrived(30_000);
    expect(fill(memory, 'e')).toBeGreaterThan(2);
  });

  it('is there for one upload, however large its share would be', () => {
    const memory = new StagingMemory(9 * MIB);
    const place = full(memory, 'a');
    expect(fill(memory, 'b')).toBe(0);
    place.leave();
    full(memory, 'b');
  });
});

import fc from 'fast-check';
import type { BusyAccount } from './account-queue.store';
import { RotationSnapshot } from './rotation-snapshot';

/** The same place by its definition, an account at a time. */
function positionByCounting(busy: readonly BusyAccount[], accountId: string, ahead: number): number {
  const weight = busy.find((account) => account.accountId === accountId)?.weight ?? 1;
  return busy.reduce((position, other) => {
    const turns = Math.ceil(((ahead + 1) * other.weight) / weight) - 1;
    return other.accountId === accountId ? position : position + Math.min(other.waiting, turns);
  }, ahead + 1);
}

const busyAccounts = fc.uniqueArray(
  fc.record({
    accountId: fc.constantFrom(...'abcdefghij'),
    waiting: fc.integer({ min: 1, max: 30 }),
    weight: fc.integer({ min: 1, max: 4 }),
  }),
  { selector: ({ accountId }) => accountId },
);

describe('the place of a queued job', () => {
  it('is after its own and after as many of the others as have their turn meanwhile', () => {
    const rotation = new RotationSnapshot([
      { accountId: 'a', waiting: 5, weight: 1 },
      { accountId: 'b', waiting: 100, weight: 1 },
      { accountId: 'c', waiting: 1, weight: 1 },
    ]);
    expect(rotation.positionOf('a', 0)).toBe(1);
    expect(rotation.positionOf('a', 2)).toBe(3 + 2 + 1);
    expect(rotation.waiting).toBe(106);
  });

  it('is what counting account by account gives, for any busy accounts and for one that is not busy', () => {
    const asked = fc.tuple(fc.constantFrom(...'abcdefghijk'), fc.nat({ max: 40 }));
    fc.assert(
      fc.property(busyAccounts, asked, (busy, [accountId, ahead]) => {
        expect(new RotationSnapshot(busy).positionOf(accountId, ahead)).toBe(
          positionByCounting(busy, accountId, ahead),
        );
      }),
      { numRuns: 2_000 },
    );
  });
});

import { LoopShares } from './loop-shares';

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('work of the event loop', () => {
  it('begins at once while that of its owner in this turn is little', async () => {
    const shares = new LoopShares(10);
    expect([shares.take('a', 6), shares.take('a', 4), shares.take('b', 10)]).toEqual([undefined, undefined, undefined]);
    await nextTurn();
    expect(shares.take('a', 10)).toBeUndefined();
  });

  it('of one owner goes on in the next turns, in its order, and holds up nobody else', async () => {
    const shares = new LoopShares(10);
    const begun: string[] = [];
    const asked = ['first 6', 'second 6', 'third 4', 'fourth 25', 'fifth 1'].map(async (piece) => {
      await shares.take('a', Number(piece.split(' ')[1]));
      begun.push(piece);
    });
    expect(shares.take('b', 10)).toBeUndefined();
    await Promise.resolve();
    const turns: number[] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      turns.push(begun.length);
      await nextTurn();
    }
    await Promise.all(asked);
    expect(turns).toEqual([1, 3, 4, 5]);
    expect(begun).toEqual(['first 6', 'second 6', 'third 4', 'fourth 25', 'fifth 1']);
  });
});

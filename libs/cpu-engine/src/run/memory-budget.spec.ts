import { maskOf } from '../../fixtures/test-work';
import { MemoryBudget } from './memory-budget';

const MIB = 1024 * 1024;
/** A mask of one MiB. */
const mask = () => maskOf(512, 512, [0]);

/** What any value or allocation costs beside its content. */
const OVERHEAD = 2048;

describe('the memory budget of a run', () => {
  it('refuses what would pass the limit, naming what is needed and what is allowed', () => {
    const budget = new MemoryBudget(4 * MIB + 2 * OVERHEAD);
    budget.keep([mask()]);
    budget.charge(3 * MIB);
    expect(() => budget.charge(MIB)).toThrow(
      'This node needs 5 MiB for its pixels, with what the run holds already; a run may hold 4 MiB. Use smaller pictures or batches.',
    );
  });

  it('counts the cost of many small values', () => {
    const budget = new MemoryBudget(MIB);
    const tiny = Array.from({ length: 600 }, () => maskOf(1, 1, [0]));
    budget.keep(tiny);
    expect(() => budget.charge(0)).toThrow();
    budget.drop(tiny.slice(100));
    expect(() => budget.charge(0)).not.toThrow();
  });

  it('forgets what a node allocated for itself when its call ends', () => {
    const budget = new MemoryBudget(4 * MIB + 2 * OVERHEAD);
    budget.charge(4 * MIB);
    budget.keep([mask()]);
    expect(() => budget.charge(3 * MIB)).not.toThrow();
    expect(() => budget.charge(1)).toThrow();
  });

  it('gives back what no node needs any more, once its last holder lets go', () => {
    const budget = new MemoryBudget(MIB + 2 * OVERHEAD);
    const shared = mask();
    budget.keep([shared, shared]);
    budget.drop([shared]);
    expect(() => budget.charge(1)).toThrow();
    budget.drop([shared]);
    expect(() => budget.charge(MIB)).not.toThrow();
  });
});

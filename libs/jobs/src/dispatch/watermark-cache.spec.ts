import { BELIEVED_MS, DispatchMemory, type DispatchMarks } from './watermark-cache';

const at = (pass: bigint, second: number): DispatchMarks => ({ pass, inFlightSince: new Date(second * 1_000) });

describe('what a dispatcher remembers of a pool', () => {
  it('is nothing until two readings lie far enough apart', () => {
    const memory = new DispatchMemory();
    expect(memory.marks(0)).toBeNull();
    memory.keep(at(1n, 1), 0);
    expect(memory.marks(1)).toBeNull();
    memory.keep(at(2n, 2), BELIEVED_MS - 1);
    expect(memory.marks(BELIEVED_MS - 1)).toBeNull();
    memory.keep(at(3n, 3), BELIEVED_MS);
    expect(memory.marks(BELIEVED_MS)).toEqual(at(1n, 1));
  });

  it('is the lower of the last two readings, each mark by itself', () => {
    const memory = new DispatchMemory();
    memory.keep(at(5n, 1), 0);
    memory.keep(at(3n, 2), BELIEVED_MS);
    expect(memory.marks(BELIEVED_MS)).toEqual(at(3n, 1));
    memory.keep(at(7n, 0), 2 * BELIEVED_MS);
    expect(memory.marks(2 * BELIEVED_MS)).toEqual(at(3n, 0));
  });

  it('is believed for a moment only', () => {
    const memory = new DispatchMemory();
    memory.keep(at(1n, 1), 0);
    memory.keep(at(2n, 2), BELIEVED_MS);
    expect(memory.marks(2 * BELIEVED_MS - 1)).not.toBeNull();
    expect(memory.marks(2 * BELIEVED_MS)).toBeNull();
  });
});

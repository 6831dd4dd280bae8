import fc from 'fast-check';
import { QueueEnds } from './queue-ends';

const END = 10;
const BEGAN_AT_MS = Date.UTC(2026, 0, 1);

/** The id of a job that was submitted then; those of one moment are in the order of their number. */
function idAt(ms: number, nth: number): string {
  const time = (BEGAN_AT_MS + ms).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${nth.toString(16).padStart(12, '0')}`;
}

/** What a statement reads of a queue. */
function endsOf(queue: readonly string[]): QueueEnds {
  const last = queue.slice(END).slice(-END).reverse();
  return new QueueEnds({ waiting: queue.length, first: queue.slice(0, END), last });
}

const queues = fc
  .array(fc.nat({ max: 10_000 }), { maxLength: 60 })
  .map((times) => times.sort((a, b) => a - b).map((ms, nth) => idAt(ms, nth)));

describe('the number of jobs before one', () => {
  it('is exact near both ends, grows from job to job in between, and is never beyond the queue', () => {
    const property = fc.property(queues, (queue) => {
      const ends = endsOf(queue);
      const ahead = queue.map((id) => ends.ahead(id));
      expect(queue.every((id) => ends.covers(id))).toBe(true);
      expect(ahead).toEqual([...ahead].sort((a, b) => a - b));
      const isExact = (_: unknown, nth: number): boolean => nth < END || nth >= queue.length - END;
      expect(ahead.filter(isExact)).toEqual(queue.map((_, nth) => nth).filter(isExact));
    });
    fc.assert(property, { seed: 7 });
  });

  it('is what it would be, were the others submitted evenly', () => {
    const queue = Array.from({ length: 1_000 }, (_, nth) => idAt(10 * nth, nth));
    const ends = endsOf(queue);
    for (const nth of [100, 500, 900]) expect(Math.abs(ends.ahead(queue[nth] ?? '') - nth)).toBeLessThanOrEqual(1);
  });
});

describe('a job that is not in what was read', () => {
  it('came since, where it is after the last or all were read', () => {
    for (const length of [0, 5, 50]) {
      const queue = Array.from({ length }, (_, nth) => idAt(nth, nth));
      const newer = idAt(1_000, 0);
      expect([endsOf(queue).covers(newer), endsOf(queue).ahead(newer)]).toEqual([false, length]);
    }
  });

  it('has had its turn, or is back, where it is before the first', () => {
    const queue = Array.from({ length: 50 }, (_, nth) => idAt(100 + nth, nth));
    expect([endsOf(queue).covers(idAt(0, 0)), endsOf(queue).ahead(idAt(0, 0))]).toEqual([false, 0]);
  });
});

import { newId, type DispatchMessage } from '@millrace/contracts';
import { WorkerLane } from './worker-lane';

const staying = new AbortController().signal;
const message = (): DispatchMessage => ({ jobId: newId(), attempt: 1 });

/** The consumer of a lane, which a test gives messages. */
class ScriptedConsumer {
  capacities: number[] = [];
  closed = false;
  private take: (message: DispatchMessage) => Promise<DispatchMessage | null> = () => Promise.resolve(null);

  readonly open = (take: typeof this.take): this => {
    this.take = take;
    return this;
  };

  setCapacity(capacity: number): void {
    this.capacities.push(capacity);
  }

  get capacity(): number {
    return this.capacities.at(-1) ?? 0;
  }

  /** What becomes of a message that comes from the lane: null where it is done with, else what is left to others. */
  give(given: DispatchMessage): Promise<DispatchMessage | null> {
    return this.take(given);
  }

  close(): Promise<void> {
    this.closed = true;
    return Promise.resolve();
  }
}

let consumer: ScriptedConsumer;
const isOffered = jest.fn<Promise<boolean>, [DispatchMessage]>();
beforeEach(() => {
  isOffered.mockReset().mockResolvedValue(true);
  consumer = new ScriptedConsumer();
});

describe('the place of a worker at a lane', () => {
  it('takes as many messages as the worker waits for, and none else', async () => {
    const lane = new WorkerLane(consumer.open, isOffered);
    const stray = message();
    expect(await consumer.give(stray)).toBe(stray);
    const waits = [lane.next(staying), lane.next(staying)];
    expect(consumer.capacity).toBe(2);
    const [first, second] = [message(), message()];
    const ends = [consumer.give(first), consumer.give(second)];
    expect(await Promise.all(waits)).toEqual([first, second]);
    // What it has and has not answered counts.
    expect(consumer.capacity).toBe(2);
    lane.done(first, null);
    lane.done(second, null);
    expect(await Promise.all(ends)).toEqual([null, null]);
    expect(consumer.capacity).toBe(0);
  });

  it('leaves to others what its worker leaves, as it says', async () => {
    const lane = new WorkerLane(consumer.open, isOffered);
    const given = message();
    const waiting = lane.next(staying);
    const over = consumer.give(given);
    await waiting;
    expect(lane.done(given, { ...given, restMs: 250 })).toBe(true);
    expect(await over).toEqual({ ...given, restMs: 250 });
  });

  it('leaves to others what its worker neither claims nor leaves in time', async () => {
    const lane = new WorkerLane(consumer.open, isOffered, 1);
    const given = message();
    const waiting = lane.next(staying);
    const over = consumer.give(given);
    await waiting;
    expect(await over).toBe(given);
    // The answer that comes too late is of no matter.
    expect(lane.done(given, null)).toBe(false);
  });

  it('offers nothing again that its worker has claimed by another gateway', async () => {
    isOffered.mockResolvedValue(false);
    const lane = new WorkerLane(consumer.open, isOffered, 1);
    const given = message();
    const waiting = lane.next(staying);
    const over = consumer.give(given);
    await waiting;
    expect(await over).toBeNull();
    expect([isOffered.mock.calls, consumer.capacity]).toEqual([[[given]], 0]);
  });

  it('leaves to others what its worker does not answer while it cannot be looked up', async () => {
    isOffered.mockRejectedValue(new Error('away'));
    const lane = new WorkerLane(consumer.open, isOffered, 1);
    const given = message();
    const waiting = lane.next(staying);
    const over = consumer.give(given);
    await waiting;
    expect(await over).toBe(given);
  });

  it('forgets the older of two holds of one attempt, which was offered twice', async () => {
    const lane = new WorkerLane(consumer.open, isOffered);
    const given = message();
    const waits = [lane.next(staying), lane.next(staying)];
    const [older, newer] = [consumer.give(given), consumer.give({ ...given })];
    await Promise.all(waits);
    expect(await older).toBeNull();
    lane.done(given, null);
    expect(await newer).toBeNull();
  });

  it('gives nothing to a worker that has gone, or waits no longer', async () => {
    const lane = new WorkerLane(consumer.open, isOffered);
    const leaving = new AbortController();
    const waiting = lane.next(leaving.signal);
    leaving.abort();
    expect(await waiting).toBeNull();
    expect(await lane.next(leaving.signal)).toBeNull();
    expect(await lane.next(staying, 1)).toBeNull();
    expect(consumer.capacity).toBe(0);
  });

  it('answers who waits and leaves what it holds when it is closed', async () => {
    const lane = new WorkerLane(consumer.open, isOffered);
    const given = message();
    const held = lane.next(staying);
    const over = consumer.give(given);
    await held;
    const waiting = lane.next(staying);
    await lane.close();
    expect([await waiting, await over, consumer.closed]).toEqual([null, given, true]);
    expect(await lane.next(staying)).toBeNull();
  });

  it('is idle only while its worker neither waits nor has a message', async () => {
    const lane = new WorkerLane(consumer.open, isOffered);
    const given = message();
    const waiting = lane.next(staying);
    expect(lane.idleMs).toBe(0);
    const over = consumer.give(given);
    await waiting;
    expect(lane.idleMs).toBe(0);
    lane.done(given, null);
    await over;
    expect(lane.idleMs).toBeGreaterThanOrEqual(0);
  });
});

import { newId, type DispatchMessage } from '@millrace/contracts';
import { Metrics } from '@millrace/platform';
import { WorkerLanes } from './worker-lanes';

const MOST = 16;
const busy = expect.objectContaining({ code: 'rate_limited', status: 429 }) as Error;

/** Consumers of lanes, of which each stands for a connection of Redis until it has closed. */
class ScriptedConsumers {
  opened = 0;
  open = 0;
  most = 0;
  private readonly takers: ((message: DispatchMessage) => Promise<DispatchMessage | null>)[] = [];

  readonly openLane = (
    _poolId: string,
    take: (message: DispatchMessage) => Promise<DispatchMessage | null>,
  ): { setCapacity(): void; close(): Promise<void> } => {
    this.opened += 1;
    this.open += 1;
    this.most = Math.max(this.most, this.open);
    this.takers.push(take);
    const close = async (): Promise<void> => {
      await new Promise((resolve) => setImmediate(resolve));
      this.open -= 1;
    };
    return { setCapacity: () => undefined, close };
  };

  /** Give a message to the consumer that was opened as the n-th. @returns what is left to others. */
  give(number: number, message: DispatchMessage): Promise<DispatchMessage | null> {
    return this.takers[number]?.(message) ?? Promise.resolve(null);
  }
}

let consumers: ScriptedConsumers;
let lanes: WorkerLanes;
/** What was left without the consumer of a lane. */
let left: [poolId: string, message: DispatchMessage][];
/** Whether attempts wait to be claimed. */
let isOffered: boolean;
beforeEach(() => {
  left = [];
  isOffered = true;
  consumers = new ScriptedConsumers();
  lanes = lanesOf(consumers);
});

/** The lanes of a gateway. */
function lanesOf({ openLane: open }: ScriptedConsumers): WorkerLanes {
  const leave = (poolId: string, message: DispatchMessage): Promise<void> => {
    left.push([poolId, message]);
    return Promise.resolve();
  };
  return new WorkerLanes({ open, leave, isOffered: () => Promise.resolve(isOffered) }, new Metrics('test'), MOST);
}

afterEach(() => lanes.close());

/** Resolves once what was begun has come as far as it can for now. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

const staying = (): AbortSignal => new AbortController().signal;
const holder = { tokenId: newId(), poolId: 'a-pool' };

/** A worker of a token that asked once, and has gone. */
async function askOnce(workerId: string, of = holder): Promise<void> {
  const leaving = new AbortController();
  const asked = lanes.next(of, workerId, leaving.signal);
  await settled();
  leaving.abort();
  await asked;
}

describe('the places of the workers of one token', () => {
  it('are as many as it may have workers: the place of the one that asked longest ago makes room', async () => {
    const ids = Array.from({ length: 5 * MOST }, () => newId());
    for (const id of ids) await askOnce(id);
    expect(consumers).toMatchObject({ opened: 5 * MOST, most: MOST });
    // Those that asked last have theirs still.
    for (const id of ids.slice(-MOST)) await askOnce(id);
    expect(consumers.opened).toBe(5 * MOST);
  });

  it('make no room while all of them wait or have a message', async () => {
    const waiting = Array.from({ length: MOST }, () => lanes.next(holder, newId(), staying()));
    const late = newId();
    await expect(lanes.next(holder, late, staying())).rejects.toEqual(busy);
    const message = { jobId: newId(), attempt: 1 };
    void consumers.give(0, message);
    expect(await waiting[0]).toEqual(message);
    await expect(lanes.next(holder, late, staying())).rejects.toEqual(busy);
    expect(consumers.opened).toBe(MOST);
    // Those of another token are not among them.
    await askOnce(newId(), { ...holder, tokenId: newId() });
    expect(consumers.opened).toBe(MOST + 1);
  });

  it('are one of a worker, however often it asks while another place closes', async () => {
    for (let made = 0; made < MOST; made += 1) await askOnce(newId());
    const id = newId();
    const asked = Array.from({ length: 10 }, () => lanes.next(holder, id, staying()));
    await settled();
    await lanes.close();
    expect(await Promise.all(asked)).toEqual(Array(10).fill(null));
    expect(consumers).toMatchObject({ opened: MOST + 1, most: MOST });
  });
});

describe('a message that another gateway has given to the worker', () => {
  const workerId = newId();
  const message: DispatchMessage = { jobId: newId(), attempt: 1 };
  let other: WorkerLanes;
  let held: Promise<DispatchMessage | null>;
  beforeEach(async () => {
    const itsConsumers = new ScriptedConsumers();
    other = lanesOf(itsConsumers);
    const waiting = other.next(holder, workerId, staying());
    held = itsConsumers.give(0, message);
    await waiting;
  });
  afterEach(() => other.close());

  it('is offered to others from here, where the worker leaves it', async () => {
    lanes.done(holder, workerId, message, { ...message, restMs: 1 });
    await lanes.close();
    expect(left).toEqual([[holder.poolId, message]]);
  });

  it('is offered by that gateway alone, where the worker leaves it there', async () => {
    other.done(holder, workerId, message, message);
    expect(await held).toBe(message);
    await other.close();
    expect(left).toEqual([]);
  });

  it('is offered to nobody, where the worker has claimed it, or names one that does not wait in its pool', async () => {
    lanes.done(holder, workerId, message, null);
    isOffered = false;
    lanes.done(holder, workerId, message, message);
    await lanes.close();
    expect(left).toEqual([]);
  });
});

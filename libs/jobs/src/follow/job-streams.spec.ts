import fc from 'fast-check';
import { isTerminal, newId, Refusal, type JobStatus, type Progress } from '@millrace/contracts';
import type { ReceivedEvent } from '@millrace/messaging';
import { StreamState, type StreamItem } from './stream-state';
import type { JobOutputRecord, JobRecord, JobScope, JobTransitionRecord } from '../state/job';
import { JobStreams } from './job-streams';
import { hasLiveProgress } from './live-progress';

const SCOPE: JobScope = { accountId: newId(), surface: 'cloud', deploymentId: null, labels: null };
const TIMING = { rereadMs: 12, rereadAtLatestMs: 20, positionMs: 8, progressMs: 2, previewMs: 2, subscribeMs: 5 };

/** A job that moves, with events that may be lost, repeated and delayed. */
class MovingJob {
  readonly transitions: JobTransitionRecord[] = [{ seq: 1, status: 'queued', at: new Date() }];
  readonly outputs: JobOutputRecord[] = [];
  private readonly listeners = new Set<(event: ReceivedEvent) => void>();
  private progress: Progress | null = null;
  private failing = 0;

  streams(timing = TIMING): JobStreams {
    const read = async <T>(make: () => T): Promise<T> => {
      await Promise.resolve();
      if (this.failing > 0) {
        this.failing -= 1;
        throw new Error('PostgreSQL is away');
      }
      return make();
    };
    const reads = {
      get: () => Promise.resolve(this.read()),
      queuePlace: () => Promise.resolve({ position: 1, waitMs: null }),
      sinceTransition: (_scope: JobScope, _id: string, seq: number) =>
        read((): [JobTransitionRecord[], JobRecord] => [
          this.transitions.filter((transition) => transition.seq > seq),
          this.read(),
        ]),
    };
    const subscriber = {
      subscribe: (_id: string, listener: (event: ReceivedEvent) => void) => {
        this.listeners.add(listener);
        return { subscribed: Promise.resolve(), stop: () => void this.listeners.delete(listener) };
      },
    };
    const snapshot = (): Promise<{ progress: Progress | null; preview: null }> =>
      Promise.resolve({ progress: this.progress, preview: null });
    return new JobStreams(reads, subscriber, { snapshot }, timing);
  }

  move(status: JobStatus): ReceivedEvent {
    const seq = this.transitions.length + 1;
    this.transitions.push({ seq, status, at: new Date() });
    return { kind: 'status', seq };
  }

  put(): ReceivedEvent {
    const ordinal = this.outputs.length;
    const output = { nodeId: '1', ordinal, name: `${ordinal}`, type: 'text' as const, assetId: newId() };
    this.outputs.push({ ...output, contentType: 'text/plain', sizeBytes: 1, hash: 'blake3:0' });
    return { kind: 'output', ordinal };
  }

  advance(value: number): ReceivedEvent {
    this.progress = { value, nodes_done: 0, nodes_total: 1 };
    return { kind: 'progress', attempt: 1, progress: this.progress };
  }

  failNext(times: number): void {
    this.failing = times;
  }

  publish(event: ReceivedEvent): void {
    for (const listener of this.listeners) listener(event);
  }

  get over(): boolean {
    return isTerminal(this.transitions.at(-1)?.status ?? 'queued');
  }

  /** Postgres has less of a running job than was published. */
  private get ofLastHeartbeat(): Progress | null {
    return this.progress && { ...this.progress, value: this.progress.value / 2 };
  }

  private read(): JobRecord {
    const { seq, status, at } = this.transitions.at(-1) ?? { seq: 0, status: 'queued', at: new Date() };
    return {
      ...SCOPE,
      id: JOB,
      poolId: 'pool',
      status,
      delivery: this.over ? 'done' : 'leased',
      attempt: 1,
      seq,
      createdAt: at,
      startedAt: at,
      completedAt: this.over ? at : null,
      deadlineAt: at,
      expiresAt: at,
      updatedAt: at,
      progress: this.over ? this.progress : this.ofLastHeartbeat,
      error: null,
      metadata: {},
      chargedMicros: null,
      cachedNodes: null,
      isReused: false,
      reusedFrom: null,
      outputs: [...this.outputs],
      logs: null,
    };
  }
}
const JOB = newId();

const LIVES: JobStatus[][] = [
  ['running', 'succeeded'],
  ['running', 'failed'],
  ['running', 'canceling', 'canceled'],
  ['canceled'],
  ['expired'],
  ['running', 'expired'],
];

/** What happens to an event on its way. */
const fate = fc.constantFrom('received', 'lost', 'repeated', 'late');
const step = fc.record({
  kind: fc.constantFrom('move', 'output', 'progress', 'progress back', 'gap', 'reads fail', 'wait'),
  fate,
  pauseMs: fc.constantFrom(0, 0, 1, 4),
});

async function live(
  job: MovingJob,
  life: JobStatus[],
  steps: readonly { kind: string; fate: string; pauseMs: number }[],
): Promise<void> {
  const moves = [...life];
  const late: ReceivedEvent[] = [];
  let value = 0;
  const happen = (kind: string): ReceivedEvent | null => {
    if (job.over) return null;
    switch (kind) {
      case 'move':
        return moves.length > 1 ? job.move(moves.shift() ?? 'failed') : null;
      case 'output':
        return job.put();
      case 'progress':
        return job.advance((value = Math.min(1, value + 0.1)));
      case 'progress back':
        return { kind: 'progress', attempt: 1, progress: { value: value / 2, nodes_done: 0, nodes_total: 1 } };
      case 'gap':
        return { kind: 'gap' };
      case 'reads fail':
        job.failNext(1);
        return null;
      default:
        return null;
    }
  };
  for (const { kind, fate: becomes, pauseMs } of steps) {
    const event = happen(kind);
    if (event !== null && becomes === 'late') late.push(event);
    if (event !== null && (becomes === 'received' || becomes === 'repeated')) job.publish(event);
    if (event !== null && becomes === 'repeated') job.publish(event);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  for (const event of late) job.publish(event);
  while (moves.length > 0) job.move(moves.shift() ?? 'failed');
}

describe('a stream of a job', () => {
  it('sends every transition once and in order, every output once and before the end, and no progress backwards, though anything may be lost', async () => {
    const property = fc.asyncProperty(
      fc.constantFrom(...LIVES),
      fc.array(step, { maxLength: 12 }),
      async (life, steps) => {
        const job = new MovingJob();
        const items: StreamItem[] = [];
        const living = live(job, life, steps);
        for await (const item of job.streams().open(SCOPE, JOB, new AbortController().signal)) items.push(item);
        await living;
        const statuses = items.flatMap((item) => (item.kind === 'status' ? [item.job] : []));
        const from = statuses[0]?.seq ?? 0;
        const after = job.transitions.filter(({ seq }) => seq >= from);
        expect(statuses.map(({ seq, status }) => ({ seq, status }))).toEqual(
          after.map(({ seq, status }) => ({ seq, status })),
        );
        const last = items.at(-1);
        expect(last?.kind === 'status' && isTerminal(last.job.status)).toBe(true);
        const values = items.flatMap((item) => {
          if (item.kind === 'progress') return [item.progress.value];
          if (item.kind !== 'status') return [];
          return hasLiveProgress(item.job) || isTerminal(item.job.status) ? [item.job.progress?.value ?? 0] : [];
        });
        expect(values).toEqual([...values].sort((a, b) => a - b));
        // A stream that opened on the end has sent everything with that one status.
        if (items.length === 1) return;
        const sent = items.flatMap((item) => (item.kind === 'output' ? [item.output.assetId] : []));
        expect(sent).toEqual(job.outputs.map((output) => output.assetId));
      },
    );
    await fc.assert(property, { numRuns: 150, seed: 71 });
  });

  it('sends no progress below that of a status before it, whether that came from an event or from Postgres', () => {
    const progressOf = (value: number): Progress => ({ value, nodes_done: 0, nodes_total: 1 });
    const eventOf = (value: number): ReceivedEvent => ({ kind: 'progress', attempt: 1, progress: progressOf(value) });
    const jobAt = (status: JobStatus, seq: number, value: number): JobRecord =>
      ({ status, seq, progress: progressOf(value), outputs: [] }) as unknown as JobRecord;
    const state = new StreamState(jobAt('queued', 1, 0), null);
    const valuesAfter = (job: JobRecord): number[] =>
      state
        .takeNews(job, [{ seq: job.seq, status: job.status, at: new Date() }])
        .flatMap((item) => (item.kind === 'status' ? [item.job.progress?.value ?? 0] : []));
    state.receive(eventOf(0.6));
    expect(valuesAfter(jobAt('running', 2, 0.3))).toEqual([0.6]);
    state.receive(eventOf(0.4));
    expect(state.takeProgress()).toEqual([{ kind: 'progress', progress: progressOf(0.6) }]);
    expect(valuesAfter(jobAt('canceling', 3, 0.8))).toEqual([0.8]);
    state.receive(eventOf(0.7));
    expect(state.takeProgress()).toEqual([{ kind: 'progress', progress: progressOf(0.8) }]);
    expect(state.hasProgress).toBe(false);
  });

  it('that opens late sends the outputs there are, after the status', async () => {
    const job = new MovingJob();
    job.move('running');
    job.put();
    const stop = new AbortController();
    const kinds: string[] = [];
    for await (const item of job.streams().open(SCOPE, JOB, stop.signal)) {
      kinds.push(item.kind);
      if (item.kind === 'output') stop.abort();
    }
    expect(kinds).toEqual(['status', 'output']);
  });

  it('that opens on a job that has ended sends that, and ends', async () => {
    const job = new MovingJob();
    job.move('running');
    job.put();
    job.move('succeeded');
    const items: StreamItem[] = [];
    for await (const item of job.streams().open(SCOPE, JOB, new AbortController().signal)) items.push(item);
    expect(items).toMatchObject([{ kind: 'status', job: { status: 'succeeded', outputs: [{}] } }]);
  });

  it('read slowly gets the latest progress and not those in between', async () => {
    const job = new MovingJob();
    job.move('running');
    const items = job.streams().open(SCOPE, JOB, new AbortController().signal);
    expect((await items.next()).value).toMatchObject({ kind: 'status' });
    await new Promise((resolve) => setTimeout(resolve, 5));
    const first = items.next();
    for (let nth = 0; nth <= 10_000; nth += 1) job.publish(job.advance(nth / 10_000));
    await first;
    job.publish(job.move('succeeded'));
    const rest: StreamItem[] = [];
    for await (const item of items) rest.push(item);
    expect(rest.length).toBeLessThan(4);
  });

  it('sends what happens as soon as its event arrives, however long ago it was opened', async () => {
    jest.useFakeTimers();
    try {
      const job = new MovingJob();
      const streams = job.streams({ ...TIMING, rereadMs: 60_000, positionMs: 60_000 });
      const items = streams.open(SCOPE, JOB, new AbortController().signal);
      await items.next();
      const sent: unknown[] = [];
      const sending = items.next().then(({ value }) => sent.push(value));
      await jest.advanceTimersByTimeAsync(2 * TIMING.subscribeMs);
      job.publish(job.move('canceled'));
      await jest.advanceTimersByTimeAsync(1);
      expect(sent).toMatchObject([{ kind: 'status', job: { status: 'canceled' } }]);
      await sending;
    } finally {
      jest.useRealTimers();
    }
  });

  it('ends when its client goes, and unsubscribes', async () => {
    const job = new MovingJob();
    const stop = new AbortController();
    const items = job.streams().open(SCOPE, JOB, stop.signal);
    await items.next();
    setTimeout(() => stop.abort(), 1);
    expect((await items.next()).done).toBe(true);
    expect(job).toHaveProperty('listeners.size', 0);
  });

  it('of a job that is not there is refused before anything is sent', async () => {
    const job = new MovingJob();
    const streams = new JobStreams(
      { ...reads(), get: () => Promise.reject(new Refusal('not_found', 'There is none.')) },
      { subscribe: () => ({ subscribed: Promise.resolve(), stop: () => undefined }) },
      { snapshot: () => Promise.resolve({ progress: null, preview: null }) },
    );
    await expect(streams.open(SCOPE, JOB, new AbortController().signal).next()).rejects.toThrow('There is none.');
    expect(job.over).toBe(false);
  });
});

const reads = (): ConstructorParameters<typeof JobStreams>[0] => ({
  get: () => Promise.reject(new Error('not asked')),
  queuePlace: () => Promise.resolve(null),
  sinceTransition: () => Promise.reject(new Error('not asked')),
});

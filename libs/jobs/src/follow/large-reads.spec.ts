import { randomUUID } from 'node:crypto';
import type { Statements } from '@millrace/database';
import { eventually } from '@millrace/testing';
import type { QueueEstimates } from '../rotation';
import type { JobRecord, JobScope } from '../state';
import { JobPolls } from './job-polls.service';
import { JobReads } from './job-reads.service';
import type { AskedJob, JobStore } from './job.store';

const scope: JobScope = { accountId: randomUUID(), surface: 'cloud', deploymentId: null, labels: null };

const NOTHING_SHOWN = { progress: (ids: readonly string[]) => Promise.resolve(ids.map(() => null)) };

/** Reads from a store that answers when the test says so. */
class HeldStore {
  readonly begun: string[] = [];
  private readonly ends: (() => void)[] = [];
  readonly reads = new JobReads(
    {} as Statements,
    {
      findAsked: (_: unknown, asks: readonly AskedJob[]) =>
        this.hold(
          `jobs ${asks.map(({ id }) => id).join(', ')}`,
          asks.map(({ id }) => this.jobs.get(id) ?? null),
        ),
      nodeTimings: () => this.hold('nodes', []),
      workflow: () => this.hold('workflow', '{}'),
    } as unknown as JobStore,
    {} as QueueEstimates,
    { ahead: () => Promise.resolve(0) },
    NOTHING_SHOWN,
  );
  readonly polls = new JobPolls(this.reads, NOTHING_SHOWN);

  constructor(private readonly jobs = new Map<string, JobRecord>()) {}

  /** Answer one reading after the other until `count` have been. */
  async answer(count: number): Promise<void> {
    for (let answered = 0; answered < count; answered += 1) {
      await eventually('a reading began', () => this.ends.length > 0);
      this.ends.shift()?.();
    }
  }

  private hold<T>(name: string, answer: T): Promise<T> {
    this.begun.push(name);
    return new Promise((resolve) => this.ends.push(() => resolve(answer)));
  }
}

function jobWith(outputs: number): [string, JobRecord] {
  return [randomUUID(), { outputs: Array(outputs).fill({}), logs: null, delivery: 'done' } as unknown as JobRecord];
}

describe('large reads of an account', () => {
  it('are done one after the other: polls of a job known to be large, times of nodes, graphs', async () => {
    const [large, small, other] = [jobWith(1_000), jobWith(3), jobWith(3)];
    const store = new HeldStore(new Map([large, small, other]));
    const first = store.reads.get(scope, large[0]);
    await store.answer(1);
    await first;
    const all = [
      store.reads.get(scope, large[0]),
      store.polls.read(scope, large[0]),
      store.reads.nodeTimings(scope, large[0]),
      store.reads.workflow(scope, large[0]),
      store.polls.read(scope, small[0]),
      store.polls.read(scope, other[0]),
    ];
    await eventually('the small ones are read', () => store.begun.length === 3);
    expect(store.begun.slice(1)).toEqual([`jobs ${large[0]}`, `jobs ${small[0]}, ${other[0]}`]);
    await store.answer(5);
    await Promise.all(all);
  });

  it('are refused when too many wait, and polls of a large job are not', async () => {
    const large = jobWith(1_000);
    const store = new HeldStore(new Map([large]));
    const first = store.reads.get(scope, large[0]);
    await store.answer(1);
    await first;
    const graphs = Array.from({ length: 101 }, () => store.reads.workflow(scope, large[0]));
    await expect(store.reads.workflow(scope, large[0])).rejects.toMatchObject({ code: 'rate_limited' });
    const poll = store.polls.read(scope, large[0]);
    await store.answer(102);
    expect((await poll).job).toBe(large[1]);
    await Promise.all(graphs);
  });
});

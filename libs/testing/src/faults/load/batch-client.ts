import { setTimeout as pause } from 'node:timers/promises';
import type { BatchView } from '@millrace/contracts';
import type { History } from './history';
import { LoadCalls, type LoadTarget } from './load-calls';
import type { Random } from '../random';
import { makeGraph } from './workload';

const POLL_MS = 300;
const RETRIED_STATUSES = ['failed', 'canceled'];

/** One client of batches under way: submits, repeats itself, cancels, tries again. It records only what it was answered. */
export class BatchClient {
  private readonly calls: LoadCalls;
  private count = 0;

  constructor(
    private readonly name: string,
    private readonly target: LoadTarget,
    private readonly history: History,
    private readonly random: Random,
    private readonly until: AbortSignal,
  ) {
    this.calls = new LoadCalls(target, history, random);
  }

  /** Go on until the signal aborts. */
  async run(): Promise<void> {
    while (!this.until.aborted) {
      const id = await this.submit();
      if (id === null) await pause(this.random.whole(200, 600));
      else await this.attend(id);
    }
  }

  /** Submit a batch, and again while nobody knows what became of it. */
  private async submit(): Promise<string | null> {
    this.count += 1;
    const key = `batch-${this.name}-${this.count}`;
    const jobs = Array.from({ length: this.random.whole(2, 12) }, () => ({
      workflow: makeGraph(this.random, null).graph,
      metadata: { label: key },
    }));
    const batch = this.history.batch(key, this.target.accountId, jobs.length);
    const text = JSON.stringify({ jobs });
    for (let tries = 0; tries < 4; tries += 1) {
      const headers = { 'Idempotency-Key': key };
      const answer = await this.calls.call<BatchView>('POST', '/api/v2/batches', { text, headers });
      if (answer !== null && answer.status < 300) batch.ids.add(answer.body.id);
      const isKnown = answer !== null && answer.status < 500;
      if (isKnown && !this.random.chance(0.2)) break;
    }
    return [...batch.ids][0] ?? null;
  }

  private async attend(id: string): Promise<void> {
    const dice = this.random.next();
    if (dice < 0.2) return;
    if (dice < 0.5) {
      await pause(this.random.whole(0, 1_500));
      await this.calls.call('POST', `/api/v2/batches/${id}/cancel`);
    }
    const deadline = Date.now() + this.random.whole(1_000, 12_000);
    while (!this.until.aborted && Date.now() < deadline) {
      const answer = await this.calls.call<BatchView>('GET', `/api/v2/batches/${id}`);
      if (answer !== null) this.history.found(id, answer.status);
      if (answer?.status === 200) this.check(answer.body);
      if (answer?.status === 200 && answer.body.status === 'completed') break;
      await pause(POLL_MS);
    }
    if (this.random.chance(0.5)) await this.retry(id);
  }

  /** With one key as often as nobody knows what became of it. */
  private async retry(id: string): Promise<void> {
    this.count += 1;
    const headers = { 'Idempotency-Key': `retry-${this.name}-${this.count}` };
    const text = JSON.stringify({ statuses: RETRIED_STATUSES });
    for (let tries = 0; tries < 3; tries += 1) {
      const answer = await this.calls.call<BatchView>('POST', `/api/v2/batches/${id}/retry`, { text, headers });
      if (answer?.status === 200) this.check(answer.body);
      if (answer !== null && answer.status < 500) break;
    }
  }

  /** At any time each of its jobs is in one state. */
  private check({ id, counts, job_count: jobs }: BatchView): void {
    const sum = Object.values(counts).reduce((all, count) => all + count, 0);
    this.history.look('counts-of-a-batch-agree', id, sum === jobs ? null : `${sum} of ${jobs} jobs are counted`);
  }
}

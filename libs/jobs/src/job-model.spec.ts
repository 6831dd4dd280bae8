import fc from 'fast-check';
import { isTerminal } from '@millrace/contracts';
import { JobModel, MODEL_LIMITS } from './fixtures/job-model';
import { SEED, anyOrder, type System } from './fixtures/operations';
import { canMove } from './job-state';

/** No system at all: what is tested is that the reference itself keeps every promise. */
class Promises implements System {
  private answer: string | null = null;
  private readonly ended = new Map<number, string>();

  constructor(private readonly model: JobModel) {}

  async apply(): Promise<string | null> {
    return this.answer;
  }

  async compare(): Promise<void> {
    const { model } = this;
    for (const [number, job] of model.jobs.entries()) {
      const isMove = job.history.every((to, index) => canMove(job.history[index - 1] ?? null, to));
      promise('only moves of the table', isMove);
      promise('one end', job.history.filter(isTerminal).length === (job.delivery === 'done' ? 1 : 0));
      promise('attempts are bounded', job.attempt <= job.maxAttempts);
      promise('a charge is within its hold', (job.charged ?? 0) <= MODEL_LIMITS.hold);
      promise('what never started is free', job.attempt > 0 || (job.charged ?? 0) === 0);
      promise('nothing leaves an end', (this.ended.get(number) ?? job.status) === job.status);
      if (job.delivery === 'done') this.ended.set(number, job.status);
    }
    promise('a balance is never negative', model.available >= 0);
    promise('the running limit holds', model.count('dispatched', 'leased') <= MODEL_LIMITS.running);
  }

  /** Whatever the model says is right here. */
  follow(): void {
    const apply = this.model.apply.bind(this.model);
    this.model.apply = (operation) => (this.answer = apply(operation));
  }
}

/** Checked too often for a matcher: a hundred thousand times a run. */
function promise(what: string, kept: boolean): void {
  if (!kept) throw new Error(`broken: ${what}`);
}

const TIME_MS = 15_000;

describe('the reference model of jobs', () => {
  it(`keeps every promise in any order of events (seed ${SEED})`, async () => {
    const property = fc.asyncProperty(anyOrder(40), async (steps) => {
      const model = new JobModel();
      const promises = new Promises(model);
      promises.follow();
      await fc.asyncModelRun(() => ({ model, real: promises }), steps);
    });
    await fc.assert(property, { seed: SEED, numRuns: 2_000, interruptAfterTimeLimit: TIME_MS });
  });
});

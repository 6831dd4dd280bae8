import type { Database, Statements } from '@millrace/database';
import type { ErasureCounts, ErasureLease } from './erasure';
import type { ErasureStore } from './erasure.store';
import { nextStep, type ErasureSteps, type Outcome } from './erasure-steps';

/** Longer than a step may take: a step is some statements and some calls of the blob store. */
const LEASE_SECONDS = 60;
/** Before something that has to end first is looked at again. */
const WAIT_SECONDS = 1;
/** Before a step that failed is tried again. */
const RETRY_SECONDS = 15;

/** What a step came to: it went on, it has to wait for something, or none was due. */
export type StepResult = 'went_on' | 'waits' | 'none_due';

/** The lease went to another process in the middle of a step: what this one wrote in its transaction is undone. */
class LeaseLost extends Error {}

/**
 * Carries out erasures, a bounded step at a time. What a step deletes commits with the note how far it is, under the lease that was taken
 * for it; so any process goes on where another one died, and one that lost its lease changes nothing. What a step does outside of its
 * transaction (canceling, dropping uploads, removing bytes) can be done twice.
 */
export class ErasureRunner {
  /** The account that had its turn last; null: the first is next. */
  private after: string | null = null;

  constructor(
    private readonly database: Database,
    private readonly store: ErasureStore,
    private readonly steps: ErasureSteps,
    private readonly settleSeconds: number,
  ) {}

  /**
   * Do a step of what is due. One that has to wait is not due for a second: what else is due comes before.
   *
   * @throws what the step failed with; it is tried again later.
   */
  async runOnce(): Promise<StepResult> {
    const lease = await this.claim();
    if (lease === null) return 'none_due';
    try {
      return await this.step(lease);
    } catch (error) {
      if (error instanceof LeaseLost) return 'waits';
      const { step, place, counts } = lease;
      await this.store.advance(this.database, lease, { step, place, counts, waitSeconds: RETRY_SECONDS });
      throw error;
    }
  }

  /** Accounts have their turns one after the other, and begin again when all had theirs. */
  private async claim(): Promise<ErasureLease | null> {
    const { after, settleSeconds } = this;
    const lease = await this.store.claim(this.database, { leaseSeconds: LEASE_SECONDS, settleSeconds, after });
    this.after = lease?.accountId ?? null;
    return lease === null && after !== null ? this.claim() : lease;
  }

  private async step(lease: ErasureLease): Promise<StepResult> {
    const step = lease.step === '' ? nextStep(lease.subject.kind, null) : lease.step;
    if (step === null) throw new Error('an erasure has steps');
    const done = await this.steps.run(step, lease);
    const { next } = await this.database.transaction(async (tx) => {
      if (!(await this.store.hold(tx, lease))) throw new LeaseLost();
      const outcome = typeof done === 'function' ? await done(tx) : done;
      await this.note(tx, lease, step, outcome);
      return outcome;
    });
    return next === 'wait' ? 'waits' : 'went_on';
  }

  private async note(tx: Statements, lease: ErasureLease, step: string, outcome: Outcome): Promise<void> {
    const counts = sum(lease.counts, outcome.counts ?? {});
    const { next, place = null } = outcome;
    const then = next === 'over' ? nextStep(lease.subject.kind, step) : step;
    if (then !== null) {
      const waitSeconds = next === 'wait' ? WAIT_SECONDS : 0;
      await this.store.advance(tx, lease, { step: then, place: next === 'over' ? null : place, counts, waitSeconds });
      return;
    }
    if (lease.subject.kind === 'account') await this.store.finishOthers(tx, lease);
    await this.store.finish(tx, lease, counts);
  }
}

function sum(before: ErasureCounts, more: ErasureCounts): ErasureCounts {
  const counts = { ...before };
  for (const [kind, count] of Object.entries(more) as [keyof ErasureCounts, number][]) {
    if (count > 0) counts[kind] = (counts[kind] ?? 0) + count;
  }
  return counts;
}

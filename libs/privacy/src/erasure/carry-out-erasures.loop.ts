import type { Loop } from '@millrace/platform';
import type { ErasureRunner } from './erasure-runner';

/** Steps of a run that may find that they have to wait: with a thousand such erasures, the process would do nothing else. */
const WAITS = 10;

/** Carries out what is to be erased, a step a run. Every maintenance process does: a lease decides whose step it is. */
export class CarryOutErasuresLoop implements Loop {
  readonly name = 'carry-out-erasures';
  readonly everyMs = 1_000;
  readonly everywhere = true;

  constructor(private readonly runner: Pick<ErasureRunner, 'runOnce'>) {}

  /** @returns 1 after a step that went on: there may be more. */
  async runOnce(): Promise<number> {
    for (let waits = 0; waits < WAITS; waits += 1) {
      const result = await this.runner.runOnce();
      if (result !== 'waits') return result === 'went_on' ? 1 : 0;
    }
    return 0;
  }
}

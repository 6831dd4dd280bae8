import type { Loop } from '@millrace/platform';
import type { ErasureRunner } from './erasure-runner';

/** Carries out what is to be erased, a step a run. Every maintenance process does: a lease decides whose step it is. */
export class CarryOutErasuresLoop implements Loop {
  readonly name = 'carry-out-erasures';
  readonly everyMs = 1_000;
  readonly everywhere = true;

  constructor(private readonly runner: Pick<ErasureRunner, 'runOnce'>) {}

  async runOnce(): Promise<number> {
    return (await this.runner.runOnce()) ? 1 : 0;
  }
}

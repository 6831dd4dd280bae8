import type { Auditor, Finding } from '@millrace/platform';
import type { UnknownErasures } from './unknown-erasures';

/** What was erased has to stay so, no matter what is restored. */
export class ErasureAuditor implements Auditor {
  readonly name = 'erasures';

  constructor(private readonly unknown: Pick<UnknownErasures, 'find'>) {}

  async *findings(): AsyncGenerator<Finding> {
    for await (const { id, accountId } of this.unknown.find()) {
      const detail = `The account ${accountId} was restored to a moment before this erasure; run reapply-erasures.`;
      yield { check: 'erasure-is-known', subject: id, detail };
    }
  }
}

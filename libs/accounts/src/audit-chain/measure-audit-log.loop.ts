import type { Statements } from '@millrace/database';
import type { Loop, Metrics } from '@millrace/platform';
import type { SegmentStore } from './segment.store';

/** Shows how long entries of the audit log wait to be sealed, and segments to be exported. */
export class MeasureAuditLogLoop implements Loop {
  readonly name = 'measure-audit-log';
  readonly everyMs = 30_000;
  readonly everywhere = true;

  /** @param exports whether there is an archive: without one no segment waits. */
  constructor(
    private readonly database: Statements,
    private readonly segments: Pick<SegmentStore, 'waiting'>,
    private readonly metrics: Pick<Metrics, 'auditLogWaitingSeconds'>,
    private readonly exports: boolean,
  ) {}

  async runOnce(): Promise<number> {
    const gauge = this.metrics.auditLogWaitingSeconds;
    // No figure is better than an old one.
    const { sealSeconds, exportSeconds } = await this.segments.waiting(this.database).finally(() => gauge.reset());
    gauge.set({ step: 'seal' }, sealSeconds);
    if (this.exports) gauge.set({ step: 'export' }, exportSeconds);
    return 0;
  }
}

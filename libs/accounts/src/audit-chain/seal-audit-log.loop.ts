import type { Statements } from '@millrace/database';
import type { Logger, Loop } from '@millrace/platform';
import type { SegmentStore } from './segment.store';

/** What waits for so long is sealed, be it a single entry. */
const WAIT_SECONDS = 60;

/**
 * Seals what was appended to the audit log. The hash of each segment is logged: who keeps the logs elsewhere can hold the log in the
 * database against them.
 */
export class SealAuditLogLoop implements Loop {
  readonly name = 'seal-audit-log';
  readonly everyMs = 5_000;

  constructor(
    private readonly database: Statements,
    private readonly segments: Pick<SegmentStore, 'seal' | 'find'>,
    private readonly logger: Pick<Logger, 'info'>,
    private readonly waitSeconds = WAIT_SECONDS,
  ) {}

  async runOnce(): Promise<number> {
    const no = await this.segments.seal(this.database, this.waitSeconds);
    if (no === null) return 0;
    const segment = await this.segments.find(this.database, no);
    if (segment !== null) {
      const { hash, entries } = segment;
      this.logger.info(
        { segment: String(no), hash: hash.toString('hex'), entries },
        'a segment of the audit log was sealed',
      );
    }
    return 1;
  }
}

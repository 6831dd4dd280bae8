import type { Statements } from '@millrace/database';
import type { Loop } from '@millrace/platform';
import type { AuditLogStore } from './audit-log.store';

const BATCH = 1_000;

/** Deletes segments of the audit log past their retention, with their entries and the addresses in them. */
export class SweepAuditLogLoop implements Loop {
  readonly name = 'sweep-audit-log';
  readonly everyMs = 3_600_000;

  /** @param keptSeconds at least `AUDIT_LOG_FLOOR_SECONDS`. */
  constructor(
    private readonly database: Statements,
    private readonly log: Pick<AuditLogStore, 'deleteOld'>,
    private readonly keptSeconds: number,
  ) {}

  runOnce(): Promise<number> {
    return this.log.deleteOld(this.database, this.keptSeconds, BATCH);
  }
}

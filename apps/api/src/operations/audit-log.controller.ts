import { Controller } from '@nestjs/common';
import { AuditLog, type AuditEntry } from '@millrace/accounts';
import { Serves, presentPage, type AnswerOf, type InputOf } from '../endpoints';
import { listAuditLog } from './audit-log.endpoints';

/** The log of administrative acts. */
@Controller()
export class AuditLogController {
  constructor(private readonly audit: AuditLog) {}

  @Serves(listAuditLog)
  async list({ query }: InputOf<typeof listAuditLog>): Promise<AnswerOf<typeof listAuditLog>> {
    const { account_id: accountId, actor, action, subject_id: subjectId, from, to } = query;
    const page = await this.audit.list({ accountId, actor, action, subjectId, from, to }, query);
    return presentPage('entries', page, presentEntry);
  }
}

function presentEntry(entry: AuditEntry): AnswerOf<typeof listAuditLog>['entries'][number] {
  return {
    id: entry.id,
    at: entry.at.toISOString(),
    actor: entry.actor,
    action: entry.action,
    subject_type: entry.subjectType,
    subject_id: entry.subjectId,
    account_id: entry.accountId,
    address: entry.address,
    reason: entry.reason ?? null,
    details: entry.details,
  };
}

import { Controller, Inject } from '@nestjs/common';
import { AuditLog } from '@millrace/accounts';
import type { Auditor } from '@millrace/platform';
import { Serves, type AnswerOf, type InputOf } from '../endpoints';
import { MAX_FINDINGS, runAudit } from './audit.endpoints';
import { runAudits, someOfEach } from './run-audits';

/** Token of the audits that the api process can make. */
export const AUDITORS = Symbol('AUDITORS');

/** Findings that the audit log keeps of a run. */
const NOTED_FINDINGS = 20;

/** The invariants, checked on demand. */
@Controller()
export class AuditController {
  constructor(
    @Inject(AUDITORS) private readonly auditors: readonly Auditor[],
    private readonly log: AuditLog,
  ) {}

  @Serves(runAudit)
  async run({ operator }: InputOf<typeof runAudit>): Promise<AnswerOf<typeof runAudit>> {
    const audits = this.auditors.map(({ name }) => name);
    const { findings, truncatedAudits } = await runAudits(this.auditors, MAX_FINDINGS);
    const ok = findings.length === 0;
    const cut = { truncated: truncatedAudits.length > 0, truncated_audits: truncatedAudits };
    await this.log.record(operator, async (_, note) => {
      const first = someOfEach(findings, NOTED_FINDINGS).map((finding) => ({ ...finding }));
      const details = { ok, audits, findings: findings.length, ...cut, first };
      note({ action: 'audit.run', subjectType: 'audit', subjectId: 'invariants', accountId: null, details });
    });
    return { ok, audits, findings, ...cut };
  }
}

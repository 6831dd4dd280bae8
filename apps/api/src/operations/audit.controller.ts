import { Controller, Inject } from '@nestjs/common';
import { AuditLog } from '@millrace/accounts';
import type { Auditor, Finding } from '@millrace/platform';
import { Serves, type AnswerOf, type InputOf } from '../endpoints';
import { MAX_FINDINGS, runAudit } from './audit.endpoints';

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
    const { findings, truncated } = await this.find();
    const ok = findings.length === 0;
    await this.log.record(operator, async (_, note) => {
      const first = findings.slice(0, NOTED_FINDINGS).map((finding) => ({ ...finding }));
      const details = { ok, audits, findings: findings.length, truncated, first };
      note({ action: 'audit.run', subjectType: 'audit', subjectId: 'invariants', accountId: null, details });
    });
    return { ok, audits, findings, truncated };
  }

  private async find(): Promise<Pick<AnswerOf<typeof runAudit>, 'findings' | 'truncated'>> {
    const findings: (Finding & { audit: string })[] = [];
    for (const auditor of this.auditors) {
      for await (const finding of auditor.findings()) {
        if (findings.length === MAX_FINDINGS) return { findings, truncated: true };
        findings.push({ audit: auditor.name, ...finding });
      }
    }
    return { findings, truncated: false };
  }
}

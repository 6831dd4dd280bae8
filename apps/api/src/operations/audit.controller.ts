import { Controller, Inject } from '@nestjs/common';
import type { Auditor, Finding } from '@millrace/platform';
import { Serves, type AnswerOf, type InputOf } from '../endpoints';
import { MAX_FINDINGS, runAudit } from './audit.endpoints';

/** Token of the audits that the api process can make. */
export const AUDITORS = Symbol('AUDITORS');

/** The invariants, checked on demand. */
@Controller()
export class AuditController {
  constructor(@Inject(AUDITORS) private readonly auditors: readonly Auditor[]) {}

  @Serves(runAudit)
  async run(_input: InputOf<typeof runAudit>): Promise<AnswerOf<typeof runAudit>> {
    const findings: (Finding & { audit: string })[] = [];
    const audits = this.auditors.map(({ name }) => name);
    for (const auditor of this.auditors) {
      for await (const finding of auditor.findings()) {
        if (findings.length === MAX_FINDINGS) return { ok: false, audits, findings, truncated: true };
        findings.push({ audit: auditor.name, ...finding });
      }
    }
    return { ok: findings.length === 0, audits, findings, truncated: false };
  }
}

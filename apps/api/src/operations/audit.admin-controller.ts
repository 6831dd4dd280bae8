import { Controller, Inject } from '@nestjs/common';
import { z } from 'zod';
import type { Auditor } from '@millrace/platform';
import { Serves, defineEndpoint } from '../endpoints/endpoint';
import { AdminDoor, type AdminInput } from '../endpoints/admin-door';

/** The audits that the api process can make. */
export const AUDITORS = Symbol('auditors');

/** Findings in one answer: what is broken breaks often, and these say what it is. */
const MOST = 1_000;

const AuditSchema = z
  .object({
    ok: z.boolean().meta({ description: 'True when nothing was found.' }),
    audits: z.array(z.string()).meta({ description: 'What was audited.' }),
    findings: z.array(
      z.object({
        audit: z.string(),
        check: z.string(),
        subject: z.string().meta({ description: 'An id, or a name.' }),
        detail: z.string(),
      }),
    ),
    truncated: z.boolean().meta({ description: `True when there are more than ${MOST} findings.` }),
  })
  .meta({ id: 'Audit', description: 'What does not hold and must.' });

const runAudit = defineEndpoint({
  id: 'runAudit',
  method: 'get',
  path: '/admin/v1/audit',
  tag: 'audit',
  summary: 'Prove the invariants',
  description: 'Checks credits, jobs and stored bytes against each other. Reads only, and may take a while.',
  answer: { status: 200, description: 'What was found.', schema: AuditSchema },
});

/** The invariants, on demand. */
@Controller()
export class AuditAdminController {
  constructor(
    @Inject(AdminDoor) readonly door: AdminDoor,
    @Inject(AUDITORS) private readonly auditors: readonly Auditor[],
  ) {}

  @Serves(runAudit)
  async run(_input: AdminInput<typeof runAudit>): Promise<object> {
    const findings: object[] = [];
    const audits = this.auditors.map(({ name }) => name);
    for (const auditor of this.auditors) {
      for await (const finding of auditor.findings()) {
        if (findings.length === MOST) return { ok: false, audits, findings, truncated: true };
        findings.push({ audit: auditor.name, ...finding });
      }
    }
    return { ok: findings.length === 0, audits, findings, truncated: false };
  }
}

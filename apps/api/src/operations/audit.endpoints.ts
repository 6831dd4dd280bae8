import { z } from 'zod';
import { defineEndpoint } from '../endpoints';

/** Findings of one audit in one answer. A broken invariant breaks often, and these many show which one. */
export const MAX_FINDINGS = 1_000;

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
    truncated: z.boolean().meta({ description: `True when an audit found more than ${MAX_FINDINGS}.` }),
    truncated_audits: z.array(z.string()).meta({
      description: `Audits that found more than ${MAX_FINDINGS}, and ended there: what they had not looked at yet is not known.`,
    }),
  })
  .meta({ id: 'Audit', description: 'Invariants that do not hold.' });

export const runAudit = defineEndpoint({
  id: 'runAudit',
  method: 'get',
  path: '/admin/v1/audit',
  tag: 'audit',
  access: { by: 'operator', role: 'viewer' },
  summary: 'Check the invariants',
  description:
    'Checks credits, jobs and stored bytes against each other, and that the audit log is what was sealed, here and in the bucket to which ' +
    'it is exported. Changes none of them, but notes of bytes that are lost or there again, and may take a while. The audit log has what was found: `GET /admin/v1/audit-log?subject_id=invariants`.',
  answers: { 200: { description: 'The findings.', schema: AuditSchema } },
});

import type { Auditor, Finding } from '@millrace/platform';

/** A violation, and whose it is. */
export type AuditFinding = Finding & { audit: string };

/** What audits found. */
export interface AuditFindings {
  findings: AuditFinding[];
  /** Audits that ended early, because they found more than is shown. */
  truncatedAudits: string[];
}

/**
 * Have each auditor look, one after the other: one that finds much keeps no other from looking.
 *
 * @param most findings of one auditor; it ends at the next one.
 */
export async function runAudits(auditors: readonly Auditor[], most: number): Promise<AuditFindings> {
  const findings: AuditFinding[] = [];
  const truncatedAudits: string[] = [];
  for (const auditor of auditors) {
    let found = 0;
    for await (const finding of auditor.findings()) {
      if (found === most) {
        truncatedAudits.push(auditor.name);
        break;
      }
      found += 1;
      findings.push({ audit: auditor.name, ...finding });
    }
  }
  return { findings, truncatedAudits };
}

/** Some findings, of every audit that found any: the first of each, then the second of each, and so on. @param most of them. */
export function someOfEach(findings: readonly AuditFinding[], most: number): AuditFinding[] {
  const seen = new Map<string, number>();
  const ranked = findings.map((finding) => {
    const rank = seen.get(finding.audit) ?? 0;
    seen.set(finding.audit, rank + 1);
    return { finding, rank };
  });
  return ranked
    .sort((one, other) => one.rank - other.rank)
    .slice(0, most)
    .map(({ finding }) => finding);
}

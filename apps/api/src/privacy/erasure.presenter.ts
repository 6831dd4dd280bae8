import type { z } from 'zod';
import { actorSeenByAccount } from '@millrace/accounts';
import { Refusal, type ErasureSubject } from '@millrace/contracts';
import type { Erasure } from '@millrace/privacy';
import type { ErasureRequestSchema, ErasureSchema } from './erasure.schemas';

/** As operators see it. */
export function presentErasure(erasure: Erasure): z.output<typeof ErasureSchema> {
  return {
    id: erasure.id,
    account_id: erasure.accountId,
    subject: erasure.subject,
    job_id: erasure.jobId,
    label: erasure.label,
    value: erasure.value,
    pseudonym: erasure.pseudonym,
    state: erasure.state,
    counts: erasure.counts,
    requested_by: erasure.requestedBy,
    requested_at: erasure.requestedAt.toISOString(),
    started_at: erasure.startedAt?.toISOString() ?? null,
    done_at: erasure.doneAt?.toISOString() ?? null,
  };
}

/** As its account sees it: which operator asked is the service's own. */
export function presentOwnErasure(erasure: Erasure): z.output<typeof ErasureSchema> {
  return { ...presentErasure(erasure), requested_by: actorSeenByAccount(erasure.requestedBy) };
}

/**
 * What a request asks for. An account is erased for good: who means it writes so, with its id.
 *
 * @throws Refusal `invalid_request` where the confirmation is another.
 */
export function erasureSubjectOf(body: z.output<typeof ErasureRequestSchema>, accountId: string): ErasureSubject {
  const { subject, job_id: jobId = '', label = '', value = '', confirm } = body;
  if (subject === 'job') return { kind: subject, jobId: jobId.toLowerCase() };
  if (subject === 'label') return { kind: subject, label, value };
  const phrase = `erase account ${accountId}`;
  if (confirm !== phrase) throw Refusal.ofFields([{ field: 'confirm', reason: `must be exactly \`${phrase}\`` }]);
  return { kind: subject };
}

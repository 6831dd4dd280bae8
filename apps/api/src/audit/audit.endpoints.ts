import { z } from 'zod';
import { TimestampSchema } from '@millrace/contracts';
import { dayOrTime, defineEndpoint, pageQuery, pageSchema } from '../endpoints';

const common = { method: 'get', tag: 'audit', access: { by: 'api_key', scope: 'keys:admin' } } as const;

export const EXPORT_FORMATS = ['ndjson', 'csv'] as const;

export const OwnAuditEntrySchema = z
  .object({
    id: z.uuid(),
    at: TimestampSchema,
    actor: z.string().meta({
      description:
        '`api_key:<id>`, `member:<id>`, `sign_in_link`, `invitation`, `self_hosted`, `stripe`, `unauthenticated` for who presented a credential that has ended, or `operator` for the operators of the service.',
    }),
    action: z.string().meta({ description: 'Subject and verb, e.g. `api_key.revoke`.' }),
    subject_type: z.string(),
    subject_id: z.string(),
    address: z.string().nullable().meta({ description: 'Network address of the actor; null for operators.' }),
    reason: z.string().nullable().meta({ description: 'Why, in the words of the operator who did it.' }),
    details: z.record(z.string(), z.unknown()).meta({ description: 'What was set.' }),
  })
  .meta({ id: 'OwnAuditEntry', description: 'One act that concerns the account.' });

const text = z.string().min(1).max(200).optional();
const filters = {
  actor: text.meta({ description: 'Only acts of this actor, such as `member:<id>` or `operator`.' }),
  action: text.meta({ description: 'Only this action.' }),
  subject_id: text.meta({ description: 'Only acts on this subject, such as the id of a key.' }),
  from: dayOrTime.optional().meta({ description: 'Only acts at or after this day or time.' }),
  to: dayOrTime.optional().meta({ description: 'Only acts before this day or time.' }),
};

const WHAT =
  'Acts on the account, its keys, members, deployments, webhooks, caps, models and jobs: its own, and those of operators, with the reason that they gave.';

export const listOwnAudit = defineEndpoint({
  ...common,
  id: 'listOwnAudit',
  path: '/platform/v1/audit',
  summary: 'Read the audit log of the account',
  description:
    `${WHAT} Newest first. Follow \`next_cursor\` until it is absent. A page shows what it finds among a thousand entries, so it has fewer than ` +
    '`limit`, or none, where few of them match.',
  query: z.object({ ...pageQuery, ...filters }),
  answers: {
    200: { description: 'A page of the log.', schema: pageSchema('entries', OwnAuditEntrySchema, 'OwnAuditEntryPage') },
  },
  errors: ['invalid_cursor'],
});

export const exportOwnAudit = defineEndpoint({
  ...common,
  id: 'exportOwnAudit',
  path: '/platform/v1/audit/export',
  summary: 'Export the audit log of the account',
  description: `${WHAT} Oldest first, as one stream. An answer that breaks off is not whole: read it again.`,
  query: z.object({
    format: z.enum(EXPORT_FORMATS).default('ndjson').meta({
      description: '`ndjson`: an entry a line, in the fields of the list. `csv`: RFC 4180, with the details as JSON.',
    }),
    ...filters,
  }),
  answers: {
    200: {
      description: 'The log.',
      content: {
        'application/x-ndjson': { type: 'string', format: 'binary', description: 'An `OwnAuditEntry` a line.' },
        'text/csv': { type: 'string', format: 'binary', description: 'A header, and a row for each entry.' },
      },
      headers: {
        'Content-Disposition': { description: 'A name for the file.', required: true, schema: { type: 'string' } },
      },
    },
  },
  raw: true,
  errors: ['rate_limited', 'too_many_streams'],
});

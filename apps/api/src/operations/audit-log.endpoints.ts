import { z } from 'zod';
import { TimestampSchema } from '@millrace/contracts';
import { defineEndpoint, pageQuery, pageSchema, time } from '../endpoints';

const AuditEntrySchema = z
  .object({
    id: z.uuid(),
    at: TimestampSchema,
    actor: z.string().meta({
      description:
        '`admin` for the shared admin token, `token:<name>`, `operator:<who>`, or `api_key:<id>` where a key acted.',
    }),
    action: z.string().meta({ description: 'Subject and verb, e.g. `api_key.revoke`.' }),
    subject_type: z.string(),
    subject_id: z.string(),
    account_id: z.uuid().nullable().meta({ description: 'The account that it concerns.' }),
    address: z.string().nullable().meta({ description: 'Network address of the actor.' }),
    reason: z.string().nullable().meta({ description: 'Why, in the words of who did it.' }),
    details: z.record(z.string(), z.unknown()).meta({ description: 'What was set.' }),
  })
  .meta({ id: 'AuditEntry', description: 'One administrative act.' });

const text = z.string().min(1).max(200).optional();

export const listAuditLog = defineEndpoint({
  id: 'listAuditLog',
  method: 'get',
  path: '/admin/v1/audit-log',
  tag: 'audit-log',
  access: { by: 'operator', role: 'viewer' },
  summary: 'Read the audit log',
  description:
    'Every administrative act and every act on keys, newest first. An entry commits with its act. Follow `next_cursor` until it is absent. A page ' +
    'shows what it finds among a thousand entries, so it has fewer than `limit`, or none, where few of them match.',
  query: z.object({
    ...pageQuery,
    account_id: z.uuid().optional().meta({ description: 'Only what concerns this account.' }),
    actor: text.meta({ description: 'Only acts of this actor.' }),
    action: text.meta({ description: 'Only this action.' }),
    subject_id: text.meta({ description: 'Only acts on this subject.' }),
    from: time.optional().meta({ description: 'Only acts at or after this time.' }),
    to: time.optional().meta({ description: 'Only acts before this time.' }),
  }),
  answers: {
    200: { description: 'A page of the log.', schema: pageSchema('entries', AuditEntrySchema, 'AuditEntryPage') },
  },
  errors: ['invalid_cursor'],
});

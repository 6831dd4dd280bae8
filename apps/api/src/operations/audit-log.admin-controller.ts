import { Controller, Inject } from '@nestjs/common';
import { z } from 'zod';
import { AuditLog, type AuditEntry } from '@millrace/accounts';
import { TimestampSchema } from '@millrace/contracts';
import { Serves, defineEndpoint } from '../endpoints/endpoint';
import { pageQuery, pageSchema, presentPage } from '../endpoints/page-query';
import { AdminDoor, type AdminInput } from '../endpoints/admin-door';

const AuditEntrySchema = z
  .object({
    id: z.uuid(),
    at: TimestampSchema,
    actor: z.string().meta({ description: '`admin`, or `api_key:<id>` where a key acted.' }),
    action: z.string().meta({ description: 'Subject and verb, e.g. `api_key.revoke`.' }),
    subject_type: z.string(),
    subject_id: z.string(),
    account_id: z.uuid().nullable().meta({ description: 'The account that it concerns.' }),
    address: z.string().nullable().meta({ description: 'Network address that it was done from.' }),
    details: z.record(z.string(), z.unknown()).meta({ description: 'What was set.' }),
  })
  .meta({ id: 'AuditEntry', description: 'One administrative act.' });

const word = z.string().min(1).max(200).optional();
const time = z.iso
  .datetime({ offset: true, error: 'must be a time with a zone, e.g. 2030-01-31T12:00:00Z' })
  .transform((text) => new Date(text))
  .optional();

const listAuditLog = defineEndpoint({
  id: 'listAuditLog',
  method: 'get',
  path: '/admin/v1/audit-log',
  tag: 'audit-log',
  summary: 'Read the audit log',
  description: 'Every administrative act and every act on keys, newest first. An entry commits with its act.',
  query: z.object({
    ...pageQuery,
    account_id: z.uuid().optional().meta({ description: 'Only what concerns this account.' }),
    actor: word.meta({ description: 'Only acts of this actor.' }),
    action: word.meta({ description: 'Only this action.' }),
    subject_id: word.meta({ description: 'Only acts on this subject.' }),
    from: time.meta({ description: 'Only acts at or after this time.' }),
    to: time.meta({ description: 'Only acts before this time.' }),
  }),
  answer: {
    status: 200,
    description: 'A page of the log.',
    schema: pageSchema('entries', AuditEntrySchema, 'AuditEntryPage'),
  },
  errors: ['invalid_cursor'],
});

/** The log of administrative acts. */
@Controller()
export class AuditLogAdminController {
  constructor(
    @Inject(AdminDoor) readonly door: AdminDoor,
    @Inject(AuditLog) private readonly audit: AuditLog,
  ) {}

  @Serves(listAuditLog)
  async list({ query }: AdminInput<typeof listAuditLog>): Promise<object> {
    const { account_id: accountId, actor, action, subject_id: subjectId, from, to } = query;
    const page = await this.audit.list({ accountId, actor, action, subjectId, from, to }, query);
    return presentPage('entries', page, presentEntry);
  }
}

function presentEntry(entry: AuditEntry): object {
  return {
    id: entry.id,
    at: entry.at.toISOString(),
    actor: entry.actor,
    action: entry.action,
    subject_type: entry.subjectType,
    subject_id: entry.subjectId,
    account_id: entry.accountId,
    address: entry.address,
    details: entry.details,
  };
}

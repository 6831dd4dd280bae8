import { z } from 'zod';
import { MEMBER_ROLES, TimestampSchema } from '@millrace/contracts';
import { EMAIL } from '../endpoints';

const role = z.enum(MEMBER_ROLES).meta({
  description:
    '`owner`: everything; `developer`: jobs, assets, deployments, webhooks and keys; `finance`: usage, credits and spend; `viewer`: reads.',
});
const email = z.string().meta({ description: 'In lower case.' });

export const MemberSchema = z
  .object({ id: z.uuid(), email, role, created_at: TimestampSchema })
  .meta({ id: 'Member', description: 'A person of the account.' });

export const MemberListSchema = z
  .object({ members: z.array(MemberSchema) })
  .meta({ id: 'MemberList', description: 'The people of the account.' });

export const MemberUpdateSchema = z
  .object({ role: role.optional() })
  .meta({ id: 'MemberUpdate', description: 'What of a member is changed.' });

export const InvitationCreateSchema = z
  .object({ email: EMAIL.meta({ description: 'To whom the mail goes.' }), role })
  .meta({ id: 'InvitationCreate', description: 'Who is to become a member.' });

export const InvitationSchema = z
  .object({ id: z.uuid(), email, role, created_at: TimestampSchema, expires_at: TimestampSchema })
  .meta({ id: 'Invitation', description: 'Who was asked to become a member, and has not answered yet.' });

export const InvitationListSchema = z
  .object({ invitations: z.array(InvitationSchema) })
  .meta({ id: 'InvitationList', description: 'Invitations that can still be accepted.' });

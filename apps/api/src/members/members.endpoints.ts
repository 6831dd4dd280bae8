import { defineEndpoint, recordId } from '../endpoints';
import {
  InvitationCreateSchema,
  InvitationListSchema,
  InvitationSchema,
  MemberListSchema,
  MemberSchema,
  MemberUpdateSchema,
} from './member.schemas';

const common = { tag: 'members', access: { by: 'api_key', scope: 'keys:admin' } } as const;
const OWNERS = 'Only owners do this, and API keys with all scopes.';

export const listMembers = defineEndpoint({
  ...common,
  id: 'listMembers',
  method: 'get',
  path: '/platform/v1/members',
  summary: 'List members',
  description: 'The people of the account, newest first.',
  answers: { 200: { description: 'The members.', schema: MemberListSchema } },
});

export const updateMember = defineEndpoint({
  ...common,
  id: 'updateMember',
  method: 'patch',
  path: '/platform/v1/members/{id}',
  params: { id: recordId('member') },
  summary: 'Give a member another role',
  description: `It holds everywhere within 5 seconds, for their sessions and their keys. The last owner stays one. Who is an owner no more has invited nobody: their open invitations end. ${OWNERS}`,
  body: MemberUpdateSchema,
  example: { role: 'viewer' },
  answers: { 200: { description: 'The member.', schema: MemberSchema } },
});

export const removeMember = defineEndpoint({
  ...common,
  id: 'removeMember',
  method: 'delete',
  path: '/platform/v1/members/{id}',
  params: { id: recordId('member') },
  summary: 'Remove a member',
  description: `Their sessions and their API keys, with the keys that these made, are refused everywhere within 5 seconds; their open invitations end. The last owner stays. ${OWNERS}`,
  answers: { 204: { description: 'The member is removed.' } },
  errors: ['invalid_field'],
});

export const listInvitations = defineEndpoint({
  ...common,
  id: 'listInvitations',
  method: 'get',
  path: '/platform/v1/invitations',
  summary: 'List invitations',
  description: 'Those that can still be accepted, newest first.',
  answers: { 200: { description: 'The invitations.', schema: InvitationListSchema } },
});

export const createInvitation = defineEndpoint({
  ...common,
  id: 'createInvitation',
  method: 'post',
  path: '/platform/v1/invitations',
  creates: '/platform/v1/invitations/{id}',
  summary: 'Invite somebody',
  description: `They get a mail with a link that makes them a member. It counts once, for 7 days; another invitation of the same address replaces it. ${OWNERS}`,
  body: InvitationCreateSchema,
  example: { email: 'ada@example.com', role: 'developer' },
  answers: { 201: { description: 'The mail is on its way.', schema: InvitationSchema } },
});

export const revokeInvitation = defineEndpoint({
  ...common,
  id: 'revokeInvitation',
  method: 'delete',
  path: '/platform/v1/invitations/{id}',
  params: { id: recordId('invitation') },
  summary: 'Take an invitation back',
  description: `Its link is worth nothing from now on. ${OWNERS}`,
  answers: { 204: { description: 'The invitation is taken back.' } },
});

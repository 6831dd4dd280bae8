import { queryOptions } from '@tanstack/react-query';
import type { MemberRole } from '@millrace/contracts';
import { deleteRecord, send, sendForJson } from './client';

const POLL_MS = 10_000;
const MEMBERS = '/platform/v1/members';
const INVITATIONS = '/platform/v1/invitations';

/** A person of the account. */
export interface Member {
  id: string;
  email: string;
  role: MemberRole;
  created_at: string;
}

/** Who was asked to become a member, and has not answered yet. */
export interface Invitation extends Member {
  expires_at: string;
}

/** The people of the account, newest first. */
export const membersQuery = queryOptions({
  queryKey: ['members'],
  queryFn: async ({ signal }) => (await sendForJson<{ members: Member[] }>(MEMBERS, { signal })).members,
  refetchInterval: POLL_MS,
});

/** Those that can still be accepted, newest first. */
export const invitationsQuery = queryOptions({
  queryKey: ['invitations'],
  queryFn: async ({ signal }) =>
    (await sendForJson<{ invitations: Invitation[] }>(INVITATIONS, { signal })).invitations,
  refetchInterval: POLL_MS,
});

/** Have a mail sent that invites somebody; one of the same address is replaced. @throws ApiError */
export function invite(wish: { email: string; role: MemberRole }): Promise<Invitation> {
  return sendForJson<Invitation>(INVITATIONS, { method: 'POST', body: wish });
}

/** Take an invitation back. @throws ApiError */
export async function withdrawInvitation(id: string): Promise<void> {
  // One that is not there any more may have been accepted: that is no success.
  await send(`${INVITATIONS}/${id}`, { method: 'DELETE' });
}

/** Give a member another role. @throws ApiError */
export function changeRole(id: string, role: MemberRole): Promise<Member> {
  return sendForJson<Member>(`${MEMBERS}/${id}`, { method: 'PATCH', body: { role } });
}

/** End a member, with their sessions and keys. @throws ApiError */
export async function removeMember(id: string): Promise<void> {
  await deleteRecord(`${MEMBERS}/${id}`);
}

import { Controller, Inject } from '@nestjs/common';
import type { Request } from 'express';
import type { z } from 'zod';
import { InvitationsService, MembersService, type Invitation, type Member, type Owner } from '@millrace/accounts';
import { API_SETTINGS, mailOriginOf, type ApiSettings } from '../api.config';
import { Serves, actorOf, type AnswerOf, type InputOf, type Visitor } from '../endpoints';
import {
  createInvitation,
  listInvitations,
  listMembers,
  removeMember,
  revokeInvitation,
  updateMember,
} from './members.endpoints';
import type { InvitationSchema, MemberSchema } from './member.schemas';

/** The people of an account. */
@Controller()
export class MembersController {
  constructor(
    private readonly members: MembersService,
    private readonly invitations: InvitationsService,
    @Inject(API_SETTINGS) private readonly settings: ApiSettings,
  ) {}

  @Serves(listMembers)
  async list({ visitor }: InputOf<typeof listMembers>): Promise<AnswerOf<typeof listMembers>> {
    return { members: (await this.members.list(visitor.caller.accountId)).map(presentMember) };
  }

  @Serves(updateMember)
  async update({
    visitor,
    params,
    body,
    request,
  }: InputOf<typeof updateMember>): Promise<AnswerOf<typeof updateMember>> {
    const { accountId } = visitor.caller;
    return presentMember(await this.members.changeRole(ownerOf(visitor, request), accountId, params.id, body.role));
  }

  @Serves(removeMember)
  async remove({ visitor, params, request }: InputOf<typeof removeMember>): Promise<void> {
    await this.members.remove(ownerOf(visitor, request), visitor.caller.accountId, params.id);
  }

  @Serves(listInvitations)
  async listOpen({ visitor }: InputOf<typeof listInvitations>): Promise<AnswerOf<typeof listInvitations>> {
    return { invitations: (await this.invitations.list(visitor.caller.accountId)).map(presentInvitation) };
  }

  @Serves(createInvitation)
  async invite({
    visitor,
    body,
    request,
  }: InputOf<typeof createInvitation>): Promise<AnswerOf<typeof createInvitation>> {
    const { accountId } = visitor.caller;
    const owner = ownerOf(visitor, request);
    return presentInvitation(await this.invitations.invite(owner, accountId, body, mailOriginOf(this.settings)));
  }

  @Serves(revokeInvitation)
  async revoke({ visitor, params, request }: InputOf<typeof revokeInvitation>): Promise<void> {
    await this.invitations.revoke(ownerOf(visitor, request), visitor.caller.accountId, params.id);
  }
}

function ownerOf({ caller }: Visitor, request: Request): Owner {
  return { ...actorOf(caller, request), keyId: caller.apiKeyId };
}

function presentMember({ id, email, role, createdAt }: Member): z.output<typeof MemberSchema> {
  return { id, email, role, created_at: createdAt.toISOString() };
}

function presentInvitation({ id, email, role, createdAt, expiresAt }: Invitation): z.output<typeof InvitationSchema> {
  return { id, email, role, created_at: createdAt.toISOString(), expires_at: expiresAt.toISOString() };
}

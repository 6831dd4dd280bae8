export { composeMemberChores } from './composition';
export { InvitationMailStore } from './invitation-mail.store';
export { InvitationStore, type Invitation } from './invitation.store';
export { InvitationsService } from './invitations.service';
export { MemberStore, type Member } from './member.store';
export { SignInMailsService, browserHash } from './sign-in-mails.service';
export { SignInRequestStore } from './sign-in-request.store';
export { MemberMoneyMails } from './money-mails';
export { MembersService } from './members.service';

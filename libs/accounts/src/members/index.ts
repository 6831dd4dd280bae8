export { InvitationStore, type Invitation } from './invitation.store';
export { InvitationsService } from './invitations.service';
export { MemberStore, type Member } from './member.store';
export { SignInMailsService, browserHash } from './sign-in-mails.service';
export { MemberMoneyMails } from './money-mails';
export { MembersService } from './members.service';

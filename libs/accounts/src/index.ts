export { AccessRulesService, AccessRulesStore, AddressGate, type AccessRules } from './access';
export { NETWORKS_LISTED } from './address-lists';
export { accountsSettings } from './accounts.settings';
export { type Account, type AccountChanges } from './account';
export { DEFAULT_LIMITS, type AccountLimits } from './account-limits';
export { AccountStanding } from './account-standing';
export { AccountStore } from './account.store';
export { AccountsService } from './accounts.service';
export { ApiKeyMint } from './api-key-mint';
export { API_KEY_STATES, apiKeyState, type ApiKeyRecord } from './api-key-record';
export { ApiKeyStore } from './api-key.store';
export { ApiKeysService, issuerOf, type IssuedApiKey, type KeyWish } from './api-keys.service';
export { labelsText } from './key-labels';
export type { KeyIssuer } from './key-parent';
export {
  SegmentStore,
  archivedLines,
  auditArchiveSettings,
  composeAuditChain,
  composeAuditChainAuditor,
  openAuditArchive,
} from './audit-chain';
export {
  AccountAuditLog,
  AuditLog,
  AuditLogStore,
  RefusalLog,
  SweepAuditLogLoop,
  actorSeenByAccount,
  actorsSeenByAccount,
  type AccountAuditFilter,
  type Act,
  type AuditEntry,
  type Operator,
} from './audit-log';
export { Authenticator, bearerOf } from './authenticator';
export { AccountErasureStore } from './erasure';
export { FailedAttempts } from './failed-attempts';
export { NetworkAccounts } from './network-accounts.service';
export { NoteExpiringKeysLoop } from './expiry';
export {
  InvitationMailStore,
  InvitationStore,
  AcceptInvitations,
  InvitationMailLimits,
  InvitationsService,
  MemberDeveloperMails,
  MemberMoneyMails,
  MemberStore,
  MembersService,
  SignInMailsService,
  SignInRequestStore,
  browserHash,
  composeMemberChores,
  type Invitation,
  type Member,
} from './members';
export { RateLimiter, WINDOW_SECONDS as RATE_WINDOW_SECONDS } from './rate-limiter';
export {
  ACCOUNT_CLOSED,
  SUB_KEY_REVOKED,
  accountClosed,
  openAccountPart,
  openAccountsPart,
  subKeyRevoked,
} from './open-account.store';
export { OwnerRights, type Owner } from './owner-rights';
export { OperatorTokenStore, OperatorTokensService, type OperatorToken } from './operators';
export { assertActive, assertScope, callerOfAccount, type Caller } from './caller';
export {
  OperatorSessionStore,
  OperatorSessionsService,
  SecretMint,
  SessionStore,
  SessionsService,
  SignInLinkStore,
  SignInLinksService,
  SweepSessionsLoop,
  noSession,
  type ConsoleSession,
  type ListedSession,
  type NamedOperator,
  type OpenedSession,
  type SignInOffer,
  type OperatorSession,
  type SessionPlace,
  type SessionsOf,
} from './sessions';
export { AccountSubmissionDefaults } from './submission-defaults.service';
export { SubmissionDefaultsStore } from './submission-defaults.store';

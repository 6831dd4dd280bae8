import {
  AccessRulesService,
  AccessRulesStore,
  AccountAuditLog,
  AccountStanding,
  AccountStore,
  AccountsService,
  AddressGate,
  ApiKeyMint,
  ApiKeyStore,
  ApiKeysService,
  AuditLog,
  AuditLogStore,
  Authenticator,
  FailedAttempts,
  InvitationMailStore,
  InvitationStore,
  AcceptInvitations,
  InvitationMailLimits,
  InvitationsService,
  MemberStore,
  MembersService,
  OperatorSessionStore,
  OperatorSessionsService,
  OperatorTokenStore,
  OperatorTokensService,
  OwnerRights,
  RefusalLog,
  SecretMint,
  SessionStore,
  SessionsService,
  SignInLinkStore,
  SignInLinksService,
  SignInMailsService,
  SignInRequestStore,
} from '@millrace/accounts';
import type { Database } from '@millrace/database';
import type { AccountQueues, SpendCaps } from '@millrace/jobs';
import { composeMailOutbox } from '@millrace/mail';
import { Pseudonyms, type Logger } from '@millrace/platform';
import type { ApiSettings } from './api.config';

/** Who calls, and what is done with accounts. */
type Accounts = {
  gate: AddressGate;
  rules: AccessRulesService;
  accounts: AccountsService;
  keys: ApiKeysService;
  audit: AuditLog;
  accountAudit: AccountAuditLog;
  authenticator: Authenticator;
  failures: FailedAttempts;
  refusals: RefusalLog;
  standing: AccountStanding;
  sessions: SessionsService;
  signInLinks: SignInLinksService;
  operatorSessions: OperatorSessionsService;
  operatorTokens: OperatorTokensService;
  members: MembersService;
  invitations: InvitationsService;
  acceptInvitations: AcceptInvitations;
  signInMails: SignInMailsService;
};

/** Changes of accounts and keys reach waiting jobs at once, and, by `forget`, the requests of this process. */
export function composeAccounts(
  database: Database,
  settings: ApiSettings,
  logger: Logger,
  queues: Pick<AccountQueues, 'applyLimits'>,
  caps: Pick<SpendCaps, 'limitsAny'>,
): { services: Accounts; forget: () => void } {
  const { keyEnvironment, failedAuthPerMinute, secretKey, consoleSessionSeconds, adminToken } = settings;
  const accountStore = new AccountStore();
  const keyStore = new ApiKeyStore();
  const mint = new ApiKeyMint(secretKey);
  const auditStore = new AuditLogStore();
  const audit = new AuditLog(database, auditStore);
  const accountAudit = new AccountAuditLog(database);
  const failures = new FailedAttempts(failedAuthPerMinute, logger);
  const refusals = new RefusalLog(database, auditStore, logger);
  const authenticator = new Authenticator(database, keyStore, mint, failures, logger, refusals);
  const standing = new AccountStanding(database, accountStore);
  const sessionMint = new SecretMint(secretKey, 'console sessions');
  const sessions = new SessionsService(
    database,
    new SessionStore(),
    sessionMint,
    audit,
    failures,
    consoleSessionSeconds,
  );
  const forget = (): void => {
    authenticator.forget();
    standing.forget();
    sessions.forget();
  };
  const applyLimits: typeof queues.applyLimits = (tx, account) => queues.applyLimits(tx, account);
  const accounts = new AccountsService(database, accountStore, audit, applyLimits, forget);
  const openInvitations = new InvitationStore();
  const keys = new ApiKeysService(
    database,
    accountStore,
    keyStore,
    audit,
    mint,
    keyEnvironment,
    openInvitations,
    caps,
    forget,
  );
  const links = new SignInLinkStore();
  const linkMint = new SecretMint(secretKey, 'sign-in links');
  const signInLinks = new SignInLinksService(
    database,
    links,
    accounts,
    keys,
    linkMint,
    audit,
    failures,
    consoleSessionSeconds,
    refusals,
  );
  const operatorSessions = new OperatorSessionsService(
    database,
    new OperatorSessionStore(),
    new SecretMint(secretKey, 'operator sessions'),
    audit,
    failures,
    adminToken,
  );
  const operatorTokens = new OperatorTokensService(
    database,
    new OperatorTokenStore(),
    new SecretMint(secretKey, 'operator tokens'),
    audit,
    failures,
    refusals,
  );
  const owners = new OwnerRights(accountStore, keyStore);
  const members = new MemberStore();
  const outbox = composeMailOutbox(secretKey, settings);
  const invitationMint = new SecretMint(secretKey, 'invitations');
  const addresses = new Pseudonyms(secretKey, 'mail addresses');
  const invitations = new InvitationsService({
    database,
    accounts: accountStore,
    owners,
    members,
    invitations: openInvitations,
    mailLimits: new InvitationMailLimits(new InvitationMailStore(), addresses, settings.invitationsPerDay),
    outbox,
    mint: invitationMint,
    audit,
  });
  const acceptInvitations = new AcceptInvitations({
    database,
    accounts: accountStore,
    keys: keyStore,
    members,
    invitations: openInvitations,
    mint: invitationMint,
    keyMint: mint,
    audit,
    failures,
    keyEnvironment,
  });
  const people = {
    members: new MembersService(database, owners, members, openInvitations, audit, forget),
    invitations,
    acceptInvitations,
    signInMails: new SignInMailsService(database, new SignInRequestStore(), outbox, secretKey),
  };
  const gate = new AddressGate(audit, failures);
  const rules = new AccessRulesService(database, new AccessRulesStore(), accountStore, keyStore, audit, owners, forget);
  const services = {
    accounts,
    keys,
    audit,
    accountAudit,
    authenticator,
    failures,
    refusals,
    standing,
    sessions,
    signInLinks,
    gate,
    rules,
  };
  return { services: { ...services, ...people, operatorSessions, operatorTokens }, forget };
}

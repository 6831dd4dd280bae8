export {
  type ConsoleSession,
  type ListedSession,
  type OpenedSession,
  type SessionGrant,
  type SessionPlace,
  type SessionsOf,
  type SignInOffer,
  noSession,
} from './console-session';
export { OperatorSessionStore, type NamedOperator, type OperatorSession } from './operator-session.store';
export { OperatorSessionsService } from './operator-sessions.service';
export { SecretMint } from './secret-mint';
export { SessionStore } from './session.store';
export { SessionsService } from './sessions.service';
export { SignInLinkStore } from './sign-in-link.store';
export { SignInLinksService } from './sign-in-links.service';
export { SweepSessionsLoop } from './sweep-sessions.loop';

import { Controller } from '@nestjs/common';
import { SessionsService, type Caller, type SessionsOf } from '@millrace/accounts';
import { isOwners } from '@millrace/contracts';
import {
  Serves,
  actorOf,
  assertOwnPage,
  clearSessionCookie,
  setSessionCookie,
  type AnswerOf,
  type InputOf,
} from '../endpoints';
import { presentListedSession, presentOffer, presentSession } from './session.presenter';
import {
  endOtherSessions,
  endSession,
  getSession,
  listSessions,
  lookAtSignIn,
  signIn,
  signOut,
  signOutEverywhere,
} from './sessions.endpoints';
import { SignInService } from './sign-in.service';

/** Who is signed in to the console. */
@Controller()
export class SessionsController {
  constructor(
    private readonly sessions: SessionsService,
    private readonly exchange: SignInService,
  ) {}

  @Serves(signIn)
  async signIn({ body, request, response }: InputOf<typeof signIn>): Promise<AnswerOf<typeof signIn>> {
    // A page of another site could sign its own account in, and read what is then done in it.
    assertOwnPage(request);
    const session = await this.exchange.signIn(request, body);
    setSessionCookie(request, response, session.secret);
    return presentSession(session);
  }

  @Serves(lookAtSignIn)
  async look({ body, request }: InputOf<typeof lookAtSignIn>): Promise<AnswerOf<typeof lookAtSignIn>> {
    assertOwnPage(request);
    return presentOffer(await this.exchange.look(request, body));
  }

  @Serves(getSession)
  async get({ visitor }: InputOf<typeof getSession>): Promise<AnswerOf<typeof getSession>> {
    return presentSession(await this.sessions.get(visitor.caller.sessionId));
  }

  @Serves(signOut)
  async signOut({ visitor, request, response }: InputOf<typeof signOut>): Promise<void> {
    const { accountId, sessionId } = visitor.caller;
    await this.sessions.end(accountId, sessionId);
    clearSessionCookie(request, response);
  }

  @Serves(signOutEverywhere)
  async signOutEverywhere({ visitor, request, response }: InputOf<typeof signOutEverywhere>): Promise<void> {
    const { caller } = visitor;
    await this.sessions.endAll(actorOf(caller, request), sessionsOf(caller), null);
    clearSessionCookie(request, response);
  }

  @Serves(endOtherSessions)
  async endOthers({ visitor, request }: InputOf<typeof endOtherSessions>): Promise<void> {
    const { caller } = visitor;
    await this.sessions.endAll(actorOf(caller, request), sessionsOf(caller), caller.sessionId);
  }

  @Serves(listSessions)
  async list({ visitor }: InputOf<typeof listSessions>): Promise<AnswerOf<typeof listSessions>> {
    const { caller } = visitor;
    const sessions = await this.sessions.list(sessionsOf(caller));
    return { sessions: sessions.map((session) => presentListedSession(session, caller.sessionId)) };
  }

  @Serves(endSession)
  async endOne({ visitor, params, request }: InputOf<typeof endSession>): Promise<void> {
    const { caller } = visitor;
    await this.sessions.endOther(actorOf(caller, request), sessionsOf(caller), params.id);
  }
}

/** Who may do everything sees the sessions of all; others their own: a member those of all keys of theirs, else those of the key. */
function sessionsOf({ accountId, apiKeyId, memberId, scopes }: Caller): SessionsOf {
  if (isOwners(scopes)) return { accountId };
  return { accountId, holder: memberId === undefined ? { apiKeyId } : { memberId } };
}

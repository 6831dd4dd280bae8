import { Controller } from '@nestjs/common';
import { SessionsService } from '@millrace/accounts';
import {
  Serves,
  actorOf,
  assertOwnPage,
  clearSessionCookie,
  setSessionCookie,
  type AnswerOf,
  type InputOf,
} from '../endpoints';
import { presentSession } from './session.presenter';
import { getSession, signIn, signOut, signOutEverywhere } from './sessions.endpoints';
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
    await this.sessions.endAll(actorOf(caller, request), caller.accountId);
    clearSessionCookie(request, response);
  }
}

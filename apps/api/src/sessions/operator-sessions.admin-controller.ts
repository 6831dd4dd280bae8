import { Controller } from '@nestjs/common';
import { OperatorSessionsService, type OperatorSession } from '@millrace/accounts';
import { Refusal } from '@millrace/contracts';
import {
  OPERATOR_COOKIE,
  Serves,
  assertOwnPage,
  clearSessionCookie,
  setSessionCookie,
  type AnswerOf,
  type InputOf,
} from '../endpoints';
import { getOperatorSession, signInOperator, signOutOperator } from './operator-sessions.admin-endpoints';

/** Which operators are signed in to their console. */
@Controller()
export class OperatorSessionsAdminController {
  constructor(private readonly sessions: OperatorSessionsService) {}

  @Serves(signInOperator)
  async signIn({
    operator,
    request,
    response,
  }: InputOf<typeof signInOperator>): Promise<AnswerOf<typeof signInOperator>> {
    if (operator.session !== null) {
      throw new Refusal('unauthorized', 'A session cannot prolong itself: send a token as a bearer token.');
    }
    assertOwnPage(request);
    const session = await this.sessions.open(operator, operator.named);
    setSessionCookie(request, response, session.secret, OPERATOR_COOKIE);
    return presentSession(operator, session);
  }

  @Serves(getOperatorSession)
  async get({ operator }: InputOf<typeof getOperatorSession>): Promise<AnswerOf<typeof getOperatorSession>> {
    return presentSession(operator, operator.session);
  }

  @Serves(signOutOperator)
  async signOut({ operator, request, response }: InputOf<typeof signOutOperator>): Promise<void> {
    if (operator.session !== null) await this.sessions.end(operator, operator.session.id);
    clearSessionCookie(request, response, OPERATOR_COOKIE);
  }
}

function presentSession(
  { actor, named }: InputOf<typeof getOperatorSession>['operator'],
  session: OperatorSession | null,
): AnswerOf<typeof getOperatorSession> {
  return { actor, role: named?.role ?? 'admin', expires_at: session?.expiresAt.toISOString() ?? null };
}

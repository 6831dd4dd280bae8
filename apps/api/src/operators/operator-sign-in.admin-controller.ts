import { Controller, Inject, Logger } from '@nestjs/common';
import type { Request, Response } from 'express';
import { FailedAttempts, OperatorSessionsService, RefusalLog } from '@millrace/accounts';
import { Refusal } from '@millrace/contracts';
import { API_SETTINGS, type ApiSettings } from '../api.config';
import { OPERATOR_COOKIE, Serves, setSessionCookie, type AnswerOf, type InputOf } from '../endpoints';
import { addressOf, networkOf } from '../http';
import { IdentityProvider, type Identity } from './identity-provider';
import { beginOperatorSignIn, finishOperatorSignIn, listSignInWays } from './operator-sign-in.admin-endpoints';
import { providerOf, roleOf } from '../operators.config';
import { clearPending, keepPending, pendingOf } from './pending-cookie';

/** The console says what is wrong, by what stands behind its `#`. */
const CONSOLE = '/console/ops/';
type Trouble = 'provider' | 'refused' | 'no-role';

/** Stands in the audit log and in a table: bounded, and no other text can be taken for it. */
const WHO = /^[\p{L}\p{N}@._+:|/-]{1,150}$/u;

/** Signing operators in by the OpenID Connect provider of the service. */
@Controller()
export class OperatorSignInAdminController {
  private readonly provider: IdentityProvider | null;
  private readonly logger = new Logger('operators');

  constructor(
    private readonly sessions: OperatorSessionsService,
    private readonly failures: FailedAttempts,
    private readonly refusals: RefusalLog,
    @Inject(API_SETTINGS) private readonly settings: ApiSettings,
  ) {
    const provider = providerOf(settings);
    this.provider = provider === null ? null : new IdentityProvider(provider, settings.operatorsGroupsClaim);
  }

  @Serves(listSignInWays)
  async ways(_: InputOf<typeof listSignInWays>): Promise<AnswerOf<typeof listSignInWays>> {
    return { provider: this.provider !== null };
  }

  @Serves(beginOperatorSignIn)
  async begin({ request, response }: InputOf<typeof beginOperatorSignIn>): Promise<void> {
    try {
      const { url, pending } = await this.theProvider().begin();
      keepPending(request, response, pending);
      response.redirect(url);
    } catch (error) {
      this.giveUp(response, 'provider', error);
    }
  }

  @Serves(finishOperatorSignIn)
  async finish({ request, response }: InputOf<typeof finishOperatorSignIn>): Promise<void> {
    const provider = this.theProvider();
    const pending = pendingOf(request);
    clearPending(request, response);
    if (pending === null) return this.giveUp(response, 'refused', new Error('no sign-in was begun in this browser'));
    const query = request.originalUrl.slice(request.path.length);
    const identity = await provider.finish(query, pending).catch((error: unknown) => {
      this.failures.count(networkOf(request));
      this.noteRefusal(request, 'operators');
      return this.giveUp(response, 'refused', error);
    });
    if (identity !== undefined) await this.admit(request, response, identity);
  }

  private async admit(request: Request, response: Response, { who, groups }: Identity): Promise<void> {
    const role = roleOf(groups, this.settings.operatorsRoles);
    if (role === null || !WHO.test(who)) {
      this.noteRefusal(request, WHO.test(who) ? `operator:${who}` : 'operators');
      return this.giveUp(response, 'no-role', new Error(`the groups of ${who.slice(0, 150)} give no role`));
    }
    const actor = `operator:${who}`;
    const session = await this.sessions.open({ actor, address: addressOf(request) }, { actor, role, tokenId: null });
    setSessionCookie(request, response, session.secret, OPERATOR_COOKIE);
    response.redirect(CONSOLE);
  }

  private noteRefusal(request: Request, subjectId: string): void {
    const act = { action: 'operator_session.refuse', subjectType: 'operators', subjectId, accountId: null };
    this.refusals.note(act, networkOf(request));
  }

  /** @throws Refusal `not_found`. */
  private theProvider(): IdentityProvider {
    if (this.provider !== null) return this.provider;
    throw new Refusal('not_found', 'This service has no provider by which operators sign in: use an operator token.');
  }

  private giveUp(response: Response, trouble: Trouble, error: unknown): void {
    if (error instanceof Refusal) throw error;
    this.logger.warn(`an operator could not sign in (${trouble}): ${sentenceOf(error)}`);
    response.redirect(`${CONSOLE}#sign-in=${trouble}`);
  }
}

/** With what caused it: the library's own message says little. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

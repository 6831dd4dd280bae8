import { Inject, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { Authenticator, SessionsService, type Caller, type SessionPlace } from '@millrace/accounts';
import { Refusal } from '@millrace/contracts';
import { API_SETTINGS, type ApiSettings } from '../../api.config';
import { contextOf, networkOf } from '../../http';
import { assertFromConsole } from './own-page';
import { selfHostedCaller } from './self-hosted-caller';
import { sessionCookieOf } from './session-cookie';

/** The account that a page shows: its browser may have been signed in to another one since, in another tab. */
const ACCOUNT_HEADER = 'Millrace-Account';

/** Finds out who is signed in to the console. */
@Injectable()
export class SessionCallers {
  constructor(
    private readonly sessions: SessionsService,
    private readonly authenticator: Authenticator,
    @Inject(API_SETTINGS) private readonly settings: Pick<ApiSettings, 'token'>,
  ) {}

  /**
   * Who sends a request by a session; null where it presents none, or an Authorization header, which alone counts then.
   *
   * @throws Refusal 401 `unauthorized` for a session that has ended; 403 `forbidden` for a request of another page; 409
   * `another_account` for one that is meant for another account than the session's; 429 `rate_limited`.
   */
  async of(request: Request): Promise<(Caller & { sessionId: string }) | null> {
    const secret = request.headers.authorization === undefined ? sessionCookieOf(request) : null;
    if (secret === null) return null;
    assertFromConsole(request);
    const holder = await this.sessions.authenticate(secret, this.placeOf(request), networkOf(request));
    const caller = holder.caller ?? selfHostedCaller;
    assertMeant(request, caller);
    this.authenticator.noteUse(caller);
    return { ...caller, sessionId: holder.sessionId };
  }

  /** Where a session counts that is made by this request. */
  placeOf(request: Request): SessionPlace {
    const isSelfHosted = contextOf(request).surface.kind === 'self_hosted';
    return isSelfHosted ? { by: 'self_hosted', token: this.settings.token ?? '' } : { by: 'keys' };
  }
}

/** @throws Refusal `another_account`. */
function assertMeant(request: Request, { accountId }: Caller): void {
  const meant = request.get(ACCOUNT_HEADER);
  if (meant === undefined || meant === accountId) return;
  const message = 'This browser is signed in to another account than this page shows. Nothing was done.';
  throw new Refusal('another_account', message);
}

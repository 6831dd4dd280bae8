import { Inject, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import type { z } from 'zod';
import {
  AddressGate,
  Authenticator,
  FailedAttempts,
  AcceptInvitations,
  SessionsService,
  SignInLinksService,
  assertActive,
  browserHash,
  type OpenedSession,
  type SignInOffer,
} from '@millrace/accounts';
import { Refusal } from '@millrace/contracts';
import { API_SETTINGS, type ApiSettings } from '../api.config';
import { RequestLimits, SELF_HOSTED_ACCOUNT, SessionCallers, actorOf, equalTexts, sessionCookieOf } from '../endpoints';
import { addressOf, networkOf } from '../http';
import { BROWSER_COOKIE } from './browser-cookie';
import type { SignInLookSchema, SignInSchema } from './session.schemas';

/** Exchanges what proves someone for a session, by the rules of the surface that was asked. */
@Injectable()
export class SignInService {
  constructor(
    private readonly sessions: SessionsService,
    private readonly links: SignInLinksService,
    private readonly invitations: AcceptInvitations,
    private readonly authenticator: Authenticator,
    private readonly failures: FailedAttempts,
    private readonly limits: RequestLimits,
    private readonly callers: SessionCallers,
    private readonly gate: AddressGate,
    @Inject(API_SETTINGS) private readonly settings: Pick<ApiSettings, 'token'>,
  ) {}

  /**
   * @throws Refusal 401 `unauthorized`, 403 `forbidden` for a suspended account, 429 `rate_limited` after too many credentials of
   * this network that were not valid.
   */
  async signIn(
    request: Request,
    { api_key: key, link, invitation }: z.output<typeof SignInSchema>,
  ): Promise<OpenedSession> {
    const place = this.callers.placeOf(request);
    if (link !== undefined) {
      this.links.assertMade(link, networkOf(request));
      const operator = { actor: 'sign_in_link', address: addressOf(request) };
      return this.sessions.open(operator, place, (tx) => this.links.take(tx, link, fromOf(request)));
    }
    if (invitation !== undefined) {
      this.invitations.assertMade(invitation, networkOf(request));
      const operator = { actor: 'invitation', address: addressOf(request) };
      return this.sessions.open(operator, place, (tx) => this.invitations.accept(tx, operator, invitation));
    }
    const grant = place.by === 'keys' ? await this.withKey(request, key) : this.withToken(request, key);
    return this.sessions.open(actorOf(grant, request), place, async () => grant);
  }

  /**
   * What a link or an invitation signs in to. It still counts.
   *
   * @throws Refusal 401 `unauthorized`, 429 `rate_limited` after too many credentials of this network that were not valid.
   */
  async look(request: Request, { link, invitation }: z.output<typeof SignInLookSchema>): Promise<SignInOffer> {
    if (link !== undefined) {
      this.links.assertMade(link, networkOf(request));
      return this.links.look(link, fromOf(request));
    }
    this.invitations.assertMade(invitation ?? '', networkOf(request));
    return this.invitations.look(invitation ?? '');
  }

  private async withKey(
    request: Request,
    key: string | undefined,
  ): Promise<{ accountId: string; apiKeyId: string | null }> {
    if (key === undefined) throw asksFor('api_key', 'Send an API key of your account as api_key.');
    const caller = await this.authenticator.holderOf(key, networkOf(request));
    await this.gate.assertAllowed(caller, addressOf(request), networkOf(request));
    this.limits.take(request, caller, 'requests');
    assertActive(caller);
    return caller;
  }

  private withToken(request: Request, sent: string | undefined): { accountId: string; apiKeyId: null } {
    const { token } = this.settings;
    if (token !== undefined && sent === undefined) {
      throw asksFor('token', 'Send the token of this service as api_key.');
    }
    if (token !== undefined && !equalTexts(sent ?? '', token)) {
      throw this.failures.refusal(networkOf(request), 'This is not the token that the service was configured with.');
    }
    return { accountId: SELF_HOSTED_ACCOUNT, apiKeyId: null };
  }
}

/** Nothing was sent: a page that asks for it has to know what to ask for. */
function asksFor(credential: 'api_key' | 'token', message: string): Refusal {
  return new Refusal('unauthorized', message, { details: { credential } });
}

/** The browser of who presents a link, and its network. */
function fromOf(request: Request): { browser: Buffer | null; network: string } {
  const asked = sessionCookieOf(request, BROWSER_COOKIE);
  return { browser: asked === null ? null : browserHash(asked), network: networkOf(request) };
}

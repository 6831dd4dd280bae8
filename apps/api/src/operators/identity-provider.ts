import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  discovery,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  type Configuration,
} from 'openid-client';
import type { ProviderSettings } from '../operators.config';

export const CALLBACK_PATH = '/admin/v1/sign-in/callback';
/** For each request to the provider. */
const TIMEOUT_SECONDS = 10;

/** What a browser keeps while its operator is at the provider. */
export interface PendingSignIn {
  verifier: string;
  state: string;
  nonce: string;
}

/** Who signed in, as the provider says. */
export interface Identity {
  /** The e-mail address, where the provider says that it has verified it; else the id at the provider. */
  who: string;
  groups: string[];
}

/**
 * An OpenID Connect provider: authorization code flow with PKCE, state and nonce (OpenID Connect Core 1.0, 3.1; RFC 7636, RFC 9700).
 * What it says of itself is read at the first sign-in, so that a service starts without it.
 */
export class IdentityProvider {
  private configuration: Promise<Configuration> | null = null;

  constructor(
    private readonly settings: ProviderSettings,
    private readonly groupsClaim: string,
  ) {}

  /** Where to send the browser, and what it must bring back. @throws when the provider cannot be reached. */
  async begin(): Promise<{ url: string; pending: PendingSignIn }> {
    const configuration = await this.configured();
    const pending = { verifier: randomPKCECodeVerifier(), state: randomState(), nonce: randomNonce() };
    const url = buildAuthorizationUrl(configuration, {
      redirect_uri: `${this.settings.origin}${CALLBACK_PATH}`,
      scope: 'openid email',
      code_challenge: await calculatePKCECodeChallenge(pending.verifier),
      code_challenge_method: 'S256',
      state: pending.state,
      nonce: pending.nonce,
    });
    return { url: url.href, pending };
  }

  /**
   * Who came back.
   *
   * @param query of the callback, with its question mark.
   * @throws when the provider refused, did not answer, or what it answered is not for this sign-in.
   */
  async finish(query: string, { verifier, state, nonce }: PendingSignIn): Promise<Identity> {
    const url = new URL(`${this.settings.origin}${CALLBACK_PATH}${query}`);
    const tokens = await authorizationCodeGrant(await this.configured(), url, {
      pkceCodeVerifier: verifier,
      expectedState: state,
      expectedNonce: nonce,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (claims === undefined) throw new Error('the provider sent no ID token');
    const { sub, email } = claims;
    // Only the id is unique to a person; other names can be chosen to look like another's (OpenID Connect Core 1.0, 5.7).
    const who = claims['email_verified'] === true && typeof email === 'string' && email !== '' ? email : sub;
    return { who, groups: groupsIn(claims[this.groupsClaim]) };
  }

  private configured(): Promise<Configuration> {
    this.configuration ??= this.discover().catch((error: unknown) => {
      this.configuration = null;
      throw error;
    });
    return this.configuration;
  }

  private discover(): Promise<Configuration> {
    const { issuer, clientId, clientSecret } = this.settings;
    const execute = issuer.startsWith('http:') ? [allowInsecureRequests] : [];
    return discovery(new URL(issuer), clientId, clientSecret, undefined, { timeout: TIMEOUT_SECONDS, execute });
  }
}

/** Providers send a list, or one text. */
function groupsIn(claim: unknown): string[] {
  const groups: unknown[] = Array.isArray(claim) ? claim : [claim];
  return groups.filter((group) => typeof group === 'string');
}

import type { ReactNode } from 'react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { asApiError } from '../api/api-error';
import { kindOfLink, leaveOffer, takeOffer, type AskedCredential, type SignInOffer } from '../api/session';
import { Button } from '../ui/controls/button';
import { Caution } from '../ui/display/caution';
import { ErrorNote } from '../ui/display/error-note';
import { Mark } from './mark';
import './sign-in.css';

interface OfferProps {
  /** Undefined: it could not be read, with an error. */
  offer: SignInOffer | undefined;
  error: unknown;
  /** Read the offer again. */
  onRetry: () => Promise<unknown>;
  /** Instead of the link. */
  asked: AskedCredential;
  /** The account to which this browser is signed in. */
  left: SignInOffer['account'] | null;
}

/** What a link signs in to, and as whom, before it does: who sent the link may read what is then done in that account. */
export function Offer({ offer, error, onRetry, asked, left }: OfferProps): ReactNode {
  const client = useQueryClient();
  const take = useMutation({ mutationFn: () => takeOffer(client) });
  const leave = (
    <Button onClick={() => leaveOffer(client)}>
      {left !== null ? `Stay in ${left.name}` : asked === 'token' ? 'Sign in with the token' : 'Sign in in another way'}
    </Button>
  );
  if (offer === undefined) {
    return (
      <main className="sign-in">
        <div className="sign-in-box">
          <Mark />
          {isRefused(error) ? (
            <>
              <h1>This link signs nobody in</h1>
              <ErrorNote error={error} cure={cureOf(asked)} />
            </>
          ) : (
            <>
              <h1>This link could not be read</h1>
              <ErrorNote error={error} onRetry={onRetry} />
            </>
          )}
          {leave}
        </div>
      </main>
    );
  }
  const { account, member } = offer;
  const act = asked === 'token' ? 'Sign in' : `Join ${account.name}`;
  return (
    <main className="sign-in">
      <div className="sign-in-box">
        <Mark />
        <div>
          <h1>{act}</h1>
          <p className="soft">{meaningOf(offer, asked)} Go on if you expected it.</p>
        </div>
        {left !== null && left.id !== account.id && (
          <Caution>This browser leaves {left.name}, in its other tabs, too.</Caution>
        )}
        {take.isError && (
          <ErrorNote
            error={take.error}
            title="The link signs nobody in"
            {...(isRefused(take.error) ? { cure: cureOf(asked) } : {})}
          />
        )}
        <Button kind="primary" busy={take.isPending} onClick={() => take.mutate()}>
          {act} {member !== null && `as ${member.email}`}
        </Button>
        {leave}
      </div>
    </main>
  );
}

/** It was used, has expired, or is for another browser. */
const isRefused = (error: unknown): boolean => asApiError(error).code === 'unauthorized';

function cureOf(asked: AskedCredential): string {
  if (kindOfLink === 'invitation') return 'Ask who invited you for a new invitation.';
  if (asked === 'token') return 'Sign in with the token, or ask who runs the service for a new link.';
  return 'Ask for a new link under “Sign in by mail”, and open it in this browser.';
}

function meaningOf({ member }: SignInOffer, asked: AskedCredential): string {
  if (asked === 'token') return 'This link signs this browser in to the service, as its token does.';
  if (member === null) return 'This link signs this browser in to the account.';
  return `This link signs this browser in as ${member.email}, with the role ${member.role}.`;
}

import { useState, type FormEvent, type ReactNode } from 'react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { asApiError } from '../../../src/api/api-error';
import { Mark } from '../../../src/shell/mark';
import { SessionEnded } from '../../../src/ui/display/session-ended';
import { Button } from '../../../src/ui/controls/button';
import { Field } from '../../../src/ui/controls/field';
import { ErrorNote } from '../../../src/ui/display/error-note';
import { keepPlace } from './kept-place';
import { PROVIDER_SIGN_IN, sessionQuery, signIn, waysQuery } from '../api/session';
import '../../../src/shell/sign-in.css';

const WRONG_TOKEN =
  'It is an operator token (mrop_…) that still works, or the value of MILLRACE_ADMIN_TOKEN on the api processes. Check that all of it was copied.';

/** What a sign-in by the provider came back with, behind the `#`. */
const TROUBLES: Record<string, string> = {
  provider: 'The sign-in of your organisation cannot be reached. Try again in a moment; the log of the api says more.',
  refused: 'The sign-in was not completed, or took longer than ten minutes. Begin it again.',
  'no-role':
    'None of your groups has a role here. Ask an admin for one (MILLRACE_OPERATORS_ROLES), then sign in again.',
};

/** Exchanges a token for a session. The token itself is kept nowhere in the browser. */
export function SignIn({ ended }: { ended: boolean }): ReactNode {
  const [token, setToken] = useState('');
  const client = useQueryClient();
  const { data: ways } = useQuery(waysQuery);
  const trouble = TROUBLES[window.location.hash.replace('#sign-in=', '')];
  const exchange = useMutation({
    mutationFn: signIn,
    onSuccess: (session) => client.setQueryData(sessionQuery.queryKey, session),
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    exchange.mutate(token.trim());
  };
  const refused = exchange.isError && asApiError(exchange.error).code === 'unauthorized';
  return (
    <main className="sign-in">
      <form onSubmit={submit}>
        <Mark />
        <div>
          <h1>Operators</h1>
          <p className="soft">Sign in with an operator token of your own, or with the admin token of this service.</p>
        </div>
        {ended && <SessionEnded />}
        {trouble !== undefined && <p role="alert">{trouble}</p>}
        {ways?.provider && (
          <a className="button primary" href={PROVIDER_SIGN_IN} onClick={keepPlace}>
            Sign in with your organisation
          </a>
        )}
        <Field label="Admin token" note="It becomes a session of an hour. No page can read it afterwards.">
          {(ids) => (
            <input
              {...ids}
              className="input mono"
              type="password"
              autoComplete="off"
              value={token}
              onChange={(event) => setToken(event.target.value)}
              autoFocus
              required
            />
          )}
        </Field>
        {exchange.isError && <ErrorNote error={exchange.error} {...(refused ? { cure: WRONG_TOKEN } : {})} />}
        <Button type="submit" kind="primary" busy={exchange.isPending}>
          Sign in
        </Button>
      </form>
    </main>
  );
}

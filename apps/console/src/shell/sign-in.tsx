import { useState, type FormEvent, type ReactNode } from 'react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { asApiError } from '../api/api-error';
import { enter, signIn } from '../api/session';
import { Button } from '../ui/controls/button';
import { CodeBlock } from '../ui/display/code-block';
import { ErrorNote } from '../ui/display/error-note';
import { Field } from '../ui/controls/field';
import { Mark } from './mark';
import { SignInMail } from './sign-in-mail';
import './sign-in.css';

/** Exchanges an API key for a session. The key itself is kept nowhere in the browser. */
export function SignIn(): ReactNode {
  const [key, setKey] = useState('');
  const client = useQueryClient();
  const exchange = useMutation({
    mutationFn: signIn,
    onSuccess: (session) => enter(client, session),
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    exchange.mutate({ api_key: key.trim() });
  };
  return (
    <main className="sign-in">
      <form onSubmit={submit}>
        <Mark />
        <div>
          <h1>Sign in</h1>
          <p className="soft">With an API key of your account.</p>
        </div>
        <Field label="API key" note="It becomes a session of this browser. No page can read it afterwards.">
          {(ids) => (
            <input
              {...ids}
              className="input mono"
              type="password"
              autoComplete="current-password"
              placeholder="mr_live_…"
              value={key}
              onChange={(event) => setKey(event.target.value)}
              autoFocus
              required
            />
          )}
        </Field>
        {exchange.isError && <ErrorNote error={exchange.error} {...cureOf(exchange.error)} />}
        <Button type="submit" kind="primary" busy={exchange.isPending}>
          Sign in
        </Button>
        <SignInMail />
        <details>
          <summary>Where is my key?</summary>
          <p className="soft">
            Who runs this service gives you the first one. On your own machine the service prints a key, and a link that
            signs you in:
          </p>
          <CodeBlock label="Terminal" text="npm start" />
        </details>
      </form>
    </main>
  );
}

/** What a person does whose key is refused; any other error has the cure of the catalogue. */
function cureOf(error: unknown): { cure?: string } {
  if (asApiError(error).code !== 'unauthorized') return {};
  return { cure: 'Check that all of the key was copied and that it was not revoked, or sign in with another one.' };
}

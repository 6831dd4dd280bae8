import { useState, type FormEvent, type ReactNode } from 'react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { asApiError } from '../api/api-error';
import { enter, signIn, type AskedCredential } from '../api/session';
import { Button } from '../ui/controls/button';
import { CodeBlock } from '../ui/display/code-block';
import { ErrorNote } from '../ui/display/error-note';
import { Field } from '../ui/controls/field';
import { Mark } from './mark';
import { SessionEnded } from '../ui/display/session-ended';
import { SignInMail } from './sign-in-mail';
import './sign-in.css';

/** What is asked for, and what a person does whose credential is refused. */
const ASKED = {
  api_key: {
    lead: 'With an API key of your account.',
    label: 'API key',
    placeholder: 'mr_live_…',
    cure: 'Check that all of the key was copied and that it was not revoked, or sign in with another one.',
  },
  token: {
    lead: 'With the token of this self-hosted service. It has no accounts, members or keys.',
    label: 'Token',
    placeholder: '',
    cure: 'Check that all of the token was copied, and that the service still runs with it.',
  },
} as const;

/** Exchanges an API key, or the token of a self-hosted service, for a session. It is kept nowhere in the browser. */
export function SignIn({ asked, ended }: { asked: AskedCredential; ended: boolean }): ReactNode {
  const { lead, label, placeholder, cure } = ASKED[asked];
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
          <p className="soft">{lead}</p>
        </div>
        {ended && <SessionEnded />}
        <Field label={label} note="It becomes a session of this browser. No page can read it afterwards.">
          {(ids) => (
            <input
              {...ids}
              className="input mono"
              type="password"
              autoComplete="current-password"
              placeholder={placeholder}
              value={key}
              onChange={(event) => setKey(event.target.value)}
              autoFocus
              required
            />
          )}
        </Field>
        {exchange.isError && (
          <ErrorNote error={exchange.error} {...(asApiError(exchange.error).code === 'unauthorized' ? { cure } : {})} />
        )}
        <Button type="submit" kind="primary" busy={exchange.isPending}>
          Sign in
        </Button>
        {asked === 'token' ? <WhereIsTheToken /> : <OtherWays />}
      </form>
    </main>
  );
}

function OtherWays(): ReactNode {
  return (
    <>
      <SignInMail />
      <details>
        <summary>Where is my key?</summary>
        <p className="soft">
          Who runs this service gives you the first one. On your own machine the service prints a key, and a link that
          signs you in:
        </p>
        <CodeBlock label="Terminal" text="npm start" />
      </details>
    </>
  );
}

function WhereIsTheToken(): ReactNode {
  return (
    <details>
      <summary>Where is the token?</summary>
      <p className="soft">
        Who runs this service chose it, with the flag <code>--token</code> or the setting <code>MILLRACE_TOKEN</code>.
      </p>
    </details>
  );
}

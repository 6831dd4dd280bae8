import { useState, type ReactNode } from 'react';
import { useMutation } from '@tanstack/react-query';
import { sendSignInMail } from '../api/session';
import { Button } from '../ui/controls/button';
import { ErrorNote } from '../ui/display/error-note';
import { Field } from '../ui/controls/field';

/** Asks for a link by mail, which counts in this browser alone. Inside the form of the sign-in: its button does not submit that. */
export function SignInMail(): ReactNode {
  const [email, setEmail] = useState('');
  const mail = useMutation({ mutationFn: sendSignInMail });
  return (
    <details>
      <summary>Sign in by mail</summary>
      <Field label="E-mail address" note="Of a member of the account. The link counts in this browser, for 15 minutes.">
        {(ids) => (
          <input
            {...ids}
            className="input"
            type="email"
            autoComplete="email"
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
        )}
      </Field>
      {mail.isError && <ErrorNote error={mail.error} />}
      {mail.isSuccess && <p role="status">If a member has this address, a link is on its way.</p>}
      <Button type="button" busy={mail.isPending} onClick={() => mail.mutate(email.trim())}>
        Send me a link
      </Button>
    </details>
  );
}

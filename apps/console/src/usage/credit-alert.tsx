import { useState, type FormEvent, type ReactNode } from 'react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { creditAlertQuery, setCreditAlert } from '../api/credits';
import { useSession } from '../shell/session-context';
import { Button } from '../ui/controls/button';
import { Field } from '../ui/controls/field';
import { ErrorNote } from '../ui/display/error-note';
import { notify } from '../ui/display/notices';

const MICROS = 1_000_000;
const MOST_CREDITS = 1_000_000_000;

/** Below which balance the account is warned by its webhook endpoints. */
export function CreditAlert(): ReactNode {
  const { may } = useSession();
  const [text, setText] = useState<string | null>(null);
  const client = useQueryClient();
  const alert = useQuery(creditAlertQuery);
  const set = useMutation({
    mutationFn: setCreditAlert,
    onSuccess: (micros) => {
      client.setQueryData(creditAlertQuery.queryKey, micros);
      setText(null);
      notify(micros === 0 ? 'You are not warned of low credits' : 'The limit is set');
    },
  });
  if (alert.data === undefined) {
    return alert.isError ? <ErrorNote error={alert.error} onRetry={() => void alert.refetch()} /> : null;
  }
  const shown = text ?? String(alert.data / MICROS);
  const credits = Number(shown);
  const isFit = shown.trim() !== '' && credits >= 0 && credits <= MOST_CREDITS;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    set.mutate(Math.round(credits * MICROS));
  };
  return (
    <form className="panel usage-form" aria-label="Warning of low credits" onSubmit={submit}>
      <Field
        label="Warn below so many credits"
        note="Webhook endpoints that want credits.low get it once when less is left. 0: never."
        error={isFit ? undefined : 'Must be a number of credits, 0 or more.'}
      >
        {(ids) => (
          <input
            {...ids}
            className="input"
            inputMode="decimal"
            value={shown}
            disabled={!may('credits:write')}
            onChange={(event) => setText(event.target.value)}
          />
        )}
      </Field>
      {may('credits:write') && (
        <Button type="submit" busy={set.isPending} disabled={!isFit || text === null}>
          Set the limit
        </Button>
      )}
      {set.isError && <ErrorNote error={set.error} title="The limit was not set" />}
    </form>
  );
}

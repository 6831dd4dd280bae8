import { useState, type FormEvent, type ReactNode } from 'react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { creditAlertQuery, setCreditAlert } from '../api/credits';
import { useSession } from '../shell/session-context';
import { Button } from '../ui/controls/button';
import { Field } from '../ui/controls/field';
import { amountOf, faultOfAmount, textOf } from '../ui/amount-text';
import { ErrorNote } from '../ui/display/error-note';
import { notify } from '../ui/display/notices';

const MOST_MICROS = 1_000_000_000_000_000;

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
    return alert.isError ? <ErrorNote error={alert.error} onRetry={() => alert.refetch()} /> : null;
  }
  const below = amountOf(text ?? undefined, alert.data);
  const isFit = below !== null && below >= 0 && below <= MOST_MICROS;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (isFit) set.mutate(below);
  };
  return (
    <form className="panel usage-form" aria-label="Warning of low credits" onSubmit={submit}>
      <Field
        label="Warn below so many credits"
        note="Webhook endpoints that want credits.low get it once when less is left. 0: never."
        error={faultOfAmount(text ?? undefined) ?? (isFit ? undefined : 'Must be a number of credits, 0 or more.')}
      >
        {(ids) => (
          <input
            {...ids}
            className="input"
            inputMode="decimal"
            value={text ?? textOf(alert.data)}
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

import { useState, type FormEvent, type ReactNode } from 'react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { deleteSpendCap, putAccountCap, spendCapsQuery, type AtCap, type SpendCap } from '../api/spend';
import { useSession } from '../shell/session-context';
import { Button } from '../ui/controls/button';
import { Field } from '../ui/controls/field';
import { ErrorNote } from '../ui/display/error-note';
import { formatExactCredits } from '../ui/format';

const MICROS = 1_000_000;
const EMPTY = { daily: '', monthly: '', atCap: 'finish' as AtCap };

/** What jobs may cost in a day and a month, and how much of it is used. */
export function SpendCaps(): ReactNode {
  const { may, member } = useSession();
  // A key that only buys credits does not lift what it may spend, also not in a session.
  const mayWrite = may('credits:write') && (may('keys:admin') || member !== null);
  const client = useQueryClient();
  const refresh = (): Promise<void> => client.invalidateQueries({ queryKey: spendCapsQuery.queryKey });
  const caps = useQuery(spendCapsQuery);
  const remove = useMutation({ mutationFn: deleteSpendCap, onSuccess: refresh });
  return (
    <section className="panel" aria-labelledby="spend-caps">
      <div className="panel-head">
        <h2 id="spend-caps">Spend caps</h2>
      </div>
      {caps.isError && <ErrorNote error={caps.error} onRetry={() => void caps.refetch()} />}
      {caps.data?.length === 0 && <p className="label-note soft">Jobs may cost as much as there are credits.</p>}
      <ul className="limits" aria-label="Spend caps">
        {caps.data?.map((cap) => (
          <li key={cap.id}>
            <span className="limit-name">
              <span className="mono">{nameOf(cap)}</span>
              <span className="small faint">{usedOf(cap)}</span>
            </span>
            {mayWrite && cap.scope !== 'label' && (
              <Button aria-label={`Delete the cap of ${nameOf(cap)}`} onClick={() => remove.mutate(cap.id)}>
                Delete
              </Button>
            )}
          </li>
        ))}
      </ul>
      {remove.isError && <ErrorNote error={remove.error} title="The cap was not deleted" />}
      {mayWrite && <NewCap onSet={refresh} />}
    </section>
  );
}

function NewCap({ onSet }: { onSet: () => Promise<void> }): ReactNode {
  const [draft, setDraft] = useState(EMPTY);
  const put = useMutation({
    mutationFn: putAccountCap,
    onSuccess: () => {
      setDraft(EMPTY);
      return onSet();
    },
  });
  const [daily, monthly] = [microsOf(draft.daily), microsOf(draft.monthly)];
  const isFit = isAmount(daily) && isAmount(monthly) && (daily !== null || monthly !== null);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const { atCap } = draft;
    put.mutate({ daily_micros: daily, monthly_micros: monthly, daily_at_cap: atCap, monthly_at_cap: atCap });
  };
  return (
    <form className="label-form" aria-label="Cap of the account" onSubmit={submit}>
      {(['daily', 'monthly'] as const).map((span) => (
        <Field key={span} label={span === 'daily' ? 'Cap of a day, in credits' : 'Cap of a month, in credits'}>
          {(ids) => (
            <input
              {...ids}
              className="input"
              placeholder="no cap"
              inputMode="decimal"
              value={draft[span]}
              onChange={(event) => setDraft({ ...draft, [span]: event.target.value })}
            />
          )}
        </Field>
      ))}
      <Field label="When it is used up">
        {(ids) => (
          <select
            {...ids}
            className="input"
            value={draft.atCap}
            onChange={(event) => setDraft({ ...draft, atCap: event.target.value as AtCap })}
          >
            <option value="finish">let running jobs finish</option>
            <option value="stop">cancel waiting and running jobs</option>
          </select>
        )}
      </Field>
      <Button type="submit" busy={put.isPending} disabled={!isFit}>
        Set the cap
      </Button>
      {put.isError && <ErrorNote error={put.error} title="The cap was not set" />}
    </form>
  );
}

const microsOf = (text: string): number | null => (text.trim() === '' ? null : Math.round(Number(text) * MICROS));
const isAmount = (micros: number | null): boolean => micros === null || (Number.isSafeInteger(micros) && micros >= 0);

function nameOf({ scope, key_id: key, label, value }: SpendCap): string {
  if (scope === 'account') return 'account';
  if (scope === 'key') return key === null ? 'each key' : `key ${key}`;
  return value === null ? `each ${label}` : `${label}=${value}`;
}

function usedOf(cap: SpendCap): string {
  const isOfOne = cap.scope === 'account' || cap.key_id !== null || cap.value !== null;
  const part = (most: number | null, charged: number, span: string): string | false => {
    if (most === null) return false;
    const used = isOfOne ? `${formatExactCredits(charged + cap.held_micros)} of ` : '';
    return `${used}${formatExactCredits(most)} credits a ${span}`;
  };
  const parts = [
    part(cap.daily_micros, cap.day_micros, 'day'),
    part(cap.monthly_micros, cap.month_micros, 'month'),
    cap.stopped !== null && `used up this ${cap.stopped}: jobs are refused`,
  ];
  return parts.filter((text) => text !== false).join(' · ');
}

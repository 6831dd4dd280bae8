import { Fragment, useState, type FormEvent, type ReactNode } from 'react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { deleteSpendCap, putAccountCap, spendCapsQuery, type AtCap, type SpendCap } from '../api/spend';
import { useSession } from '../shell/session-context';
import { Button } from '../ui/controls/button';
import { Field } from '../ui/controls/field';
import { ErrorNote } from '../ui/display/error-note';
import { amountOf, faultOfAmount, textOf } from '../ui/amount-text';
import { formatExactCredits } from '../ui/format';
import { DeleteBound } from './delete-bound';

const SPANS = [
  { span: 'daily', name: 'day' },
  { span: 'monthly', name: 'month' },
] as const;
type Span = (typeof SPANS)[number]['span'];
type Edits = Partial<Record<Span, string> & Record<`${Span}_at_cap`, AtCap>>;

/** What jobs may cost in a day and a month, and how much of it is used. */
export function SpendCaps(): ReactNode {
  const { may, member } = useSession();
  // A key that only buys credits does not lift what it may spend, also not in a session.
  const mayWrite = may('credits:write') && (may('keys:admin') || member !== null);
  const client = useQueryClient();
  const refresh = (): Promise<void> => client.invalidateQueries({ queryKey: spendCapsQuery.queryKey });
  const caps = useQuery(spendCapsQuery);
  const [removing, setRemoving] = useState<SpendCap | null>(null);
  return (
    <section className="panel" aria-labelledby="spend-caps">
      <div className="panel-head">
        <h2 id="spend-caps">Spend caps</h2>
      </div>
      {caps.isError && <ErrorNote error={caps.error} onRetry={() => caps.refetch()} />}
      {caps.data?.length === 0 && <p className="label-note soft">Jobs may cost as much as there are credits.</p>}
      <ul className="limits" aria-label="Spend caps">
        {caps.data?.map((cap) => (
          <li key={cap.id}>
            <span className="limit-name">
              <span className="mono">{nameOf(cap)}</span>
              <span className="small faint">{usedOf(cap)}</span>
            </span>
            {mayWrite && cap.scope !== 'label' && (
              <Button aria-label={`Delete the cap of ${nameOf(cap)}`} onClick={() => setRemoving(cap)}>
                Delete
              </Button>
            )}
          </li>
        ))}
      </ul>
      {removing !== null && (
        <DeleteBound
          kind="cap"
          name={nameOf(removing)}
          act={() => deleteSpendCap(removing.id)}
          refresh={refresh}
          onClose={() => setRemoving(null)}
        >
          Jobs may cost more from then on, up to the other caps and the credits of the account.
        </DeleteBound>
      )}
      {mayWrite && caps.data !== undefined && <AccountCap cap={ofAccount(caps.data)} onSet={refresh} />}
    </section>
  );
}

/** The cap as it is, with what was edited. What nobody touched is sent as it is when it is sent: another may have changed it meanwhile. */
function AccountCap({ cap, onSet }: { cap: SpendCap | undefined; onSet: () => Promise<void> }): ReactNode {
  const [edits, setEdits] = useState<Edits>({});
  const client = useQueryClient();
  const put = useMutation({
    mutationFn: async () => {
      const caps = await client.fetchQuery({ ...spendCapsQuery, staleTime: 0 });
      return putAccountCap(withEdits(ofAccount(caps), edits));
    },
    onSuccess: async () => {
      await onSet();
      setEdits({});
    },
  });
  const draft = withEdits(cap, edits);
  const amounts = SPANS.map(({ span }) => draft[`${span}_micros`]);
  const isFit = amounts.every(isAmount) && amounts.some((micros) => micros !== null);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    put.mutate();
  };
  return (
    <form className="label-form" aria-label="Cap of the account" onSubmit={submit}>
      {SPANS.map(({ span, name }) => (
        <Fragment key={span}>
          <Field label={`Cap of a ${name}, in credits`} error={faultOfAmount(edits[span])}>
            {(ids) => (
              <input
                {...ids}
                className="input"
                placeholder="no cap"
                inputMode="decimal"
                value={edits[span] ?? textOf(cap?.[`${span}_micros`] ?? null)}
                onChange={(event) => setEdits({ ...edits, [span]: event.target.value })}
              />
            )}
          </Field>
          <Field label={`When a ${name}'s credits are used up`}>
            {(ids) => (
              <select
                {...ids}
                className="input"
                value={draft[`${span}_at_cap`]}
                onChange={(event) => setEdits({ ...edits, [`${span}_at_cap`]: event.target.value as AtCap })}
              >
                <option value="finish">let running jobs finish</option>
                <option value="stop">cancel waiting and running jobs</option>
              </select>
            )}
          </Field>
        </Fragment>
      ))}
      <Button type="submit" busy={put.isPending} disabled={!isFit}>
        Set the cap
      </Button>
      {put.isError && <ErrorNote error={put.error} title="The cap was not set" />}
    </form>
  );
}

const ofAccount = (caps: readonly SpendCap[]): SpendCap | undefined => caps.find(({ scope }) => scope === 'account');

function withEdits(cap: SpendCap | undefined, edits: Edits): Parameters<typeof putAccountCap>[0] {
  const atCap = (span: Span): AtCap => edits[`${span}_at_cap`] ?? cap?.[`${span}_at_cap`] ?? 'finish';
  return {
    daily_micros: amountOf(edits.daily, cap?.daily_micros ?? null),
    monthly_micros: amountOf(edits.monthly, cap?.monthly_micros ?? null),
    daily_at_cap: atCap('daily'),
    monthly_at_cap: atCap('monthly'),
  };
}

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

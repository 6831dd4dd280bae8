import { useState, type FormEvent, type ReactNode } from 'react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import {
  deleteLabelRule,
  labelRulesQuery,
  putLabelRule,
  type LabelRule,
  type LabelRuleDraft,
} from '../api/label-rules';
import type { AtCap } from '../api/spend';
import { useSession } from '../shell/session-context';
import { Button } from '../ui/controls/button';
import { Field } from '../ui/controls/field';
import { ErrorNote } from '../ui/display/error-note';
import { amountOf, faultOfAmount, textOf } from '../ui/amount-text';
import { formatExactCredits } from '../ui/format';
import { DeleteBound } from './delete-bound';

const HOUR_SECONDS = 3_600;

const LIMITS = [
  { name: 'max_jobs', label: 'Jobs at a time' },
  { name: 'daily_micros', label: 'Credits a day' },
  { name: 'monthly_micros', label: 'Credits a month' },
  { name: 'retention_seconds', label: 'Hours kept' },
] as const;
const AT_CAP_FIELDS = [
  { name: 'daily_at_cap', label: "When a day's credits are used up" },
  { name: 'monthly_at_cap', label: "When a month's credits are used up" },
] as const;
const AT_CAPS: readonly AtCap[] = ['finish', 'stop'];
type Limit = (typeof LIMITS)[number]['name'];
type AtCapName = (typeof AT_CAP_FIELDS)[number]['name'];
type Edits = Partial<Record<'label' | Limit | AtCapName, string>>;

/** What one of the field is, as the API counts. */
const UNITS: Record<Limit, number> = {
  max_jobs: 1,
  daily_micros: 1_000_000,
  monthly_micros: 1_000_000,
  retention_seconds: HOUR_SECONDS,
};

/** What the jobs of a label may use, such as those of an end user. */
export function LabelLimits(): ReactNode {
  const mayWrite = useSession().may('keys:admin');
  const client = useQueryClient();
  const refresh = (): Promise<void> => client.invalidateQueries({ queryKey: labelRulesQuery.queryKey });
  const rules = useQuery(labelRulesQuery);
  const [removing, setRemoving] = useState<LabelRule | null>(null);
  return (
    <section className="panel" aria-labelledby="label-limits">
      <div className="panel-head">
        <h2 id="label-limits">Limits by label</h2>
      </div>
      {rules.isError && <ErrorNote error={rules.error} onRetry={() => rules.refetch()} />}
      {rules.data?.length === 0 && (
        <p className="label-note soft">Jobs with a label such as user=ada may use as much as the account.</p>
      )}
      <ul className="limits" aria-label="Limits by label">
        {rules.data?.map((rule) => (
          <li key={rule.id}>
            <span className="limit-name">
              <span className="mono">{nameOf(rule)}</span>
              <span className="small faint">{limitsOf(rule)}</span>
            </span>
            {mayWrite && (
              <Button aria-label={`Delete the limit of ${nameOf(rule)}`} onClick={() => setRemoving(rule)}>
                Delete
              </Button>
            )}
          </li>
        ))}
      </ul>
      {removing !== null && (
        <DeleteBound
          kind="limit"
          name={nameOf(removing)}
          act={() => deleteLabelRule(removing.id)}
          refresh={refresh}
          onClose={() => setRemoving(null)}
        >
          Jobs with this label may use more from then on, up to the limits of the account.
        </DeleteBound>
      )}
      {mayWrite && rules.data !== undefined && <LimitForm rules={rules.data} onSet={refresh} />}
    </section>
  );
}

/** The rule of the label that is named, with what was edited. What nobody touched is sent as it is when it is sent: another may have changed it meanwhile. */
function LimitForm({ rules, onSet }: { rules: readonly LabelRule[]; onSet: () => Promise<void> }): ReactNode {
  const [edits, setEdits] = useState<Edits>({});
  const client = useQueryClient();
  const put = useMutation({
    mutationFn: async () =>
      putLabelRule(withEdits(await client.fetchQuery({ ...labelRulesQuery, staleTime: 0 }), edits)),
    onSuccess: async () => {
      await onSet();
      setEdits({});
    },
  });
  const draft = withEdits(rules, edits);
  const limits = LIMITS.map(({ name }) => draft[name]).filter((limit) => limit !== null);
  const isFit = draft.label !== '' && limits.length > 0 && limits.every((limit) => limit >= 0);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    put.mutate();
  };
  const edit = (name: keyof Edits, to: string): void => setEdits({ ...edits, [name]: to });
  return (
    <form className="label-form" aria-label="Limit of a label" onSubmit={submit}>
      <Field label="Label">
        {(ids) => (
          <input
            {...ids}
            className="input"
            placeholder="user or user=ada"
            value={edits.label ?? ''}
            onChange={(event) => edit('label', event.target.value)}
          />
        )}
      </Field>
      {LIMITS.map(({ name, label: of }) => (
        <Field key={name} label={of} error={faultOfAmount(edits[name])}>
          {(ids) => (
            <input
              {...ids}
              className="input"
              placeholder="no limit"
              inputMode="decimal"
              value={edits[name] ?? textOf(draft[name], UNITS[name])}
              onChange={(event) => edit(name, event.target.value)}
            />
          )}
        </Field>
      ))}
      {AT_CAP_FIELDS.map(({ name, label: of }) => (
        <Field key={name} label={of}>
          {(ids) => (
            <select
              {...ids}
              className="input"
              value={draft[name] ?? ''}
              onChange={(event) => edit(name, event.target.value)}
            >
              <option value="">end what needs more</option>
              <option value="finish">let running jobs finish</option>
              <option value="stop">cancel waiting and running jobs</option>
            </select>
          )}
        </Field>
      ))}
      <Button type="submit" busy={put.isPending} disabled={!isFit}>
        Set the limit
      </Button>
      {put.isError && <ErrorNote error={put.error} title="The limit was not set" />}
    </form>
  );
}

function withEdits(rules: readonly LabelRule[], { label: text = '', ...edited }: Edits): LabelRuleDraft {
  const { label, value } = labelOf(text);
  const rule = rules.find((known) => known.label === label && known.value === value);
  const limitOf = (name: Limit): number | null => amountOf(edited[name], rule?.[name] ?? null, UNITS[name]);
  const atCapOf = (name: AtCapName): AtCap | null =>
    edited[name] === undefined ? (rule?.[name] ?? null) : (AT_CAPS.find((known) => known === edited[name]) ?? null);
  return {
    label,
    value,
    max_jobs: limitOf('max_jobs'),
    daily_micros: limitOf('daily_micros'),
    monthly_micros: limitOf('monthly_micros'),
    retention_seconds: limitOf('retention_seconds'),
    daily_at_cap: atCapOf('daily_at_cap'),
    monthly_at_cap: atCapOf('monthly_at_cap'),
  };
}

/** Without a value it is for every value, each by itself. */
function labelOf(text: string): Pick<LabelRule, 'label' | 'value'> {
  const [label = '', ...rest] = text.trim().split('=');
  return { label, value: rest.length === 0 ? null : rest.join('=') };
}

const nameOf = ({ label, value }: LabelRule): string => (value === null ? `each ${label}` : `${label}=${value}`);

function limitsOf({
  max_jobs: jobs,
  daily_micros: daily,
  monthly_micros: monthly,
  retention_seconds: kept,
}: LabelRule): string {
  const parts = [
    jobs !== null && `${jobs} jobs at a time`,
    daily !== null && `${formatExactCredits(daily)} credits a day`,
    monthly !== null && `${formatExactCredits(monthly)} credits a month`,
    kept !== null && `kept for ${kept / HOUR_SECONDS} h`,
  ];
  return parts.filter((part) => part !== false).join(' · ');
}

import { useState, type FormEvent, type ReactNode } from 'react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { deleteLabelRule, labelRulesQuery, putLabelRule, type LabelRule } from '../api/label-rules';
import { useSession } from '../shell/session-context';
import { Button } from '../ui/controls/button';
import { Field } from '../ui/controls/field';
import { ErrorNote } from '../ui/display/error-note';
import { formatExactCredits } from '../ui/format';

const MICROS = 1_000_000;
const HOUR_SECONDS = 3_600;
const EMPTY = { label: '', jobs: '', daily: '', monthly: '', hours: '' };
type Draft = typeof EMPTY;

const FIELDS: readonly { name: keyof Draft; label: string }[] = [
  { name: 'label', label: 'Label' },
  { name: 'jobs', label: 'Jobs at a time' },
  { name: 'daily', label: 'Credits a day' },
  { name: 'monthly', label: 'Credits a month' },
  { name: 'hours', label: 'Hours kept' },
];

/** What the jobs of a label may use, such as those of an end user. */
export function LabelLimits(): ReactNode {
  const mayWrite = useSession().may('keys:admin');
  const client = useQueryClient();
  const refresh = (): Promise<void> => client.invalidateQueries({ queryKey: labelRulesQuery.queryKey });
  const rules = useQuery(labelRulesQuery);
  const remove = useMutation({ mutationFn: deleteLabelRule, onSuccess: refresh });
  return (
    <section className="panel" aria-labelledby="label-limits">
      <div className="panel-head">
        <h2 id="label-limits">Limits by label</h2>
      </div>
      {rules.isError && <ErrorNote error={rules.error} onRetry={() => void rules.refetch()} />}
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
              <Button aria-label={`Delete the limit of ${nameOf(rule)}`} onClick={() => remove.mutate(rule.id)}>
                Delete
              </Button>
            )}
          </li>
        ))}
      </ul>
      {remove.isError && <ErrorNote error={remove.error} title="The limit was not deleted" />}
      {mayWrite && <NewLimit onMade={refresh} />}
    </section>
  );
}

function NewLimit({ onMade }: { onMade: () => Promise<void> }): ReactNode {
  const [draft, setDraft] = useState<Draft>(EMPTY);
  const put = useMutation({
    mutationFn: () => putLabelRule(ruleOf(draft)),
    onSuccess: async () => {
      setDraft(EMPTY);
      await onMade();
    },
  });
  const { label, ...limits } = draft;
  const given = Object.values(limits).filter((text) => text.trim() !== '');
  const isFit = label.trim() !== '' && given.length > 0 && given.every((text) => Number(text) >= 0);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    put.mutate();
  };
  return (
    <form className="label-form" aria-label="New limit" onSubmit={submit}>
      {FIELDS.map((field) => (
        <Field key={field.name} label={field.label}>
          {(ids) => (
            <input
              {...ids}
              className="input"
              placeholder={field.name === 'label' ? 'user or user=ada' : 'no limit'}
              inputMode={field.name === 'label' ? 'text' : 'decimal'}
              value={draft[field.name]}
              onChange={(event) => setDraft({ ...draft, [field.name]: event.target.value })}
            />
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

/** Without a value it is for every value, each by itself. */
function ruleOf({ label, jobs, daily, monthly, hours }: Draft): Omit<LabelRule, 'id'> {
  const [name = '', ...rest] = label.trim().split('=');
  const scaled = (text: string, by: number): number | null =>
    text.trim() === '' ? null : Math.round(Number(text) * by);
  return {
    label: name,
    value: rest.length === 0 ? null : rest.join('='),
    max_jobs: scaled(jobs, 1),
    daily_micros: scaled(daily, MICROS),
    monthly_micros: scaled(monthly, MICROS),
    retention_seconds: scaled(hours, HOUR_SECONDS),
  };
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

import { useState, type FormEvent, type ReactNode } from 'react';
import { useNavigate } from '@tanstack/react-router';
import type { JobStatus } from '@millrace/contracts';
import type { Since } from '../api/jobs';
import { Button } from '../ui/controls/button';
import { capital } from '../ui/format';
import { Icon } from '../ui/controls/icon';
import { SINCE_LABELS } from '../ui/since-labels';
import '../ui/controls/filter-bar.css';
import { DeploymentFilter } from './deployment-filter';
import { MAX_LABELS, STATUSES, type JobsSearch } from './jobs-search';
import { ViewMenu } from './view-menu';

/** The filters of the list. They live in the address, so that back, reload and links keep them. */
export function FilterBar({ search }: { search: JobsSearch }): ReactNode {
  const navigate = useNavigate({ from: '/jobs' });
  const change = (changes: { [K in keyof JobsSearch]: JobsSearch[K] | undefined }): void => {
    const next = Object.entries({ ...search, ...changes }).filter(([, value]) => value !== undefined && value !== '');
    void navigate({ search: Object.fromEntries(next) as JobsSearch });
  };
  const labels = search.label ?? [];
  return (
    <div className="filter-bar" role="search" aria-label="Filter jobs">
      <select
        className="input"
        aria-label="Status"
        value={search.status ?? ''}
        onChange={(event) => change({ status: (event.target.value || undefined) as JobStatus | undefined })}
      >
        <option value="">Any status</option>
        {STATUSES.map((status) => (
          <option key={status} value={status}>
            {capital(status)}
          </option>
        ))}
      </select>
      <select
        className="input"
        aria-label="Time of submission"
        value={search.since ?? ''}
        onChange={(event) => change({ since: (event.target.value || undefined) as Since | undefined })}
      >
        <option value="">Any time</option>
        {Object.entries(SINCE_LABELS).map(([since, label]) => (
          <option key={since} value={since}>
            {label}
          </option>
        ))}
      </select>
      <DeploymentFilter value={search.deployment} onChange={(deployment) => change({ deployment })} />
      {labels.map((label) => (
        <button
          key={label}
          type="button"
          className="chip mono"
          onClick={() => change({ label: labels.filter((other) => other !== label) })}
          aria-label={`Remove the filter ${label}`}
        >
          <span className="clip">{label}</span>
          <Icon name="close" size={12} />
        </button>
      ))}
      {labels.length < MAX_LABELS && <LabelInput onAdd={(label) => change({ label: [...labels, label] })} />}
      {Object.keys(search).length > 0 && (
        <Button kind="quiet" onClick={() => void navigate({ search: {} })}>
          Clear
        </Button>
      )}
      <ViewMenu search={search} />
    </div>
  );
}

function LabelInput({ onAdd }: { onAdd: (label: string) => void }): ReactNode {
  const [text, setText] = useState('');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!/^[^=]+=/.test(text.trim())) return;
    onAdd(text.trim());
    setText('');
  };
  return (
    <form onSubmit={submit}>
      <input
        className="input mono"
        aria-label="Label, as key=value"
        placeholder="label=value"
        pattern="[^=]+=.*"
        title="A key, an equals sign and a value: user=u-42"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </form>
  );
}

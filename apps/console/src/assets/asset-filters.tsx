import type { ReactNode } from 'react';
import { useNavigate } from '@tanstack/react-router';
import type { Since } from '../api/jobs';
import { Button } from '../ui/controls/button';
import { SINCE_LABELS } from '../ui/since-labels';
import '../ui/controls/filter-bar.css';
import { CONTENTS, type AssetsSearch, type Content } from './assets-search';

const KINDS = { upload: 'Uploads', output: 'Outputs of jobs' } as const;

/** The filters of the gallery. They live in the address, so that back, reload and links keep them. */
export function AssetFilters({ search }: { search: AssetsSearch }): ReactNode {
  const navigate = useNavigate({ from: '/assets' });
  const change = (changes: { [K in keyof AssetsSearch]: AssetsSearch[K] | undefined }): void => {
    const next = Object.entries({ ...search, ...changes }).filter(([, value]) => value !== undefined);
    void navigate({ search: Object.fromEntries(next) as AssetsSearch });
  };
  return (
    <div className="filter-bar" role="search" aria-label="Filter assets">
      <select
        className="input"
        aria-label="Made by"
        value={search.kind ?? 'upload'}
        onChange={(event) => change({ kind: event.target.value === 'output' ? 'output' : undefined })}
      >
        {Object.entries(KINDS).map(([kind, label]) => (
          <option key={kind} value={kind}>
            {label}
          </option>
        ))}
      </select>
      <select
        className="input"
        aria-label="Content"
        value={search.content ?? ''}
        onChange={(event) => change({ content: (event.target.value || undefined) as Content | undefined })}
      >
        <option value="">Any content</option>
        {Object.entries(CONTENTS).map(([content, { label }]) => (
          <option key={content} value={content}>
            {label}
          </option>
        ))}
      </select>
      <select
        className="input"
        aria-label="Time"
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
      {Object.keys(search).length > 0 && (
        <Button kind="quiet" onClick={() => void navigate({ search: {} })}>
          Clear
        </Button>
      )}
    </div>
  );
}

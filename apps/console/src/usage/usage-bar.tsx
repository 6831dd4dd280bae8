import type { ReactNode } from 'react';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { USAGE_GROUPS, statementCsv, usageCsv, type UsageGroup } from '../api/credits';
import { useSession } from '../shell/session-context';
import { Button } from '../ui/controls/button';
import { Icon } from '../ui/controls/icon';
import { notifyError } from '../ui/display/notices';
import { saveText } from '../ui/save-text';
import { RANGES, type Range } from './usage-search';

const CSV = 'text/csv';

/** Which usage is shown, and as files. What is chosen lives in the address. */
export function UsageBar({ days, by }: { days: Range; by: UsageGroup }): ReactNode {
  const navigate = useNavigate({ from: '/usage' });
  const selfHosted = useSession().key.id === null;
  const save = useMutation({
    mutationFn: (file: CsvFile) => file.read().then((text) => saveText(file.name, text, CSV)),
    onError: (error) => notifyError('The file could not be read', error),
  });
  const month = new Date().toISOString().slice(0, 7);
  const usage = { name: `usage-${days}-days-by-${by}.csv`, read: () => usageCsv(days, by) };
  const statement = { name: `statement-${month}.csv`, read: () => statementCsv(month) };
  return (
    <div className="usage-bar">
      <select
        className="input"
        aria-label="Time"
        value={days}
        onChange={(event) => {
          const range = RANGES.find((known) => String(known) === event.target.value);
          if (range !== undefined) void navigate({ search: { days: range, by } });
        }}
      >
        {RANGES.map((range) => (
          <option key={range} value={range}>
            Last {range} days
          </option>
        ))}
      </select>
      <select
        className="input"
        aria-label="Grouped by"
        value={by}
        onChange={(event) => {
          const group = USAGE_GROUPS.find((known) => known === event.target.value);
          if (group !== undefined) void navigate({ search: { days, by: group } });
        }}
      >
        {USAGE_GROUPS.map((group) => (
          <option key={group} value={group}>
            By {group}
          </option>
        ))}
      </select>
      <Button icon={<Icon name="download" />} busy={save.isPending} onClick={() => save.mutate(usage)}>
        Usage as CSV
      </Button>
      {!selfHosted && (
        <Button icon={<Icon name="download" />} busy={save.isPending} onClick={() => save.mutate(statement)}>
          Statement of this month
        </Button>
      )}
    </div>
  );
}

interface CsvFile {
  name: string;
  read: () => Promise<string>;
}

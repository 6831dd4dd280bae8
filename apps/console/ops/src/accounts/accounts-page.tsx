import { useDeferredValue, useState, type ReactNode } from 'react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { Page } from '../../../src/shell/page';
import { Empty } from '../../../src/ui/display/empty';
import { ErrorNote } from '../../../src/ui/display/error-note';
import { Skeleton } from '../../../src/ui/display/skeleton';
import { Sign } from '../../../src/ui/display/status';
import { Ago } from '../../../src/ui/display/time';
import { capital } from '../../../src/ui/format';
import { accountsQuery, type Account } from '../api/accounts';
import { moreOf } from '../parts/pages-of';
import { Rows, type Column } from '../parts/rows';
import { Updated } from '../parts/updated';

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

const COLUMNS: readonly Column<Account>[] = [
  {
    name: 'Account',
    cell: ({ id, name }) => (
      <Link to="/accounts/$accountId" params={{ accountId: id }} title={id}>
        {name}
      </Link>
    ),
  },
  { name: 'Status', cell: ({ status }) => <StatusSign status={status} /> },
  { name: 'Kind', cell: ({ kind }) => capital(kind.replace('_', ' ')) },
  { name: 'Plan', cell: ({ plan }) => plan },
  { name: 'Weight', right: true, cell: ({ weight }) => weight },
  { name: 'Created', right: true, cell: ({ created_at }) => <Ago at={created_at} /> },
];

/** Whether an account may do anything. */
export function StatusSign({ status }: Pick<Account, 'status'>): ReactNode {
  return status === 'active' ? (
    <Sign tone="good" icon="check">
      Active
    </Sign>
  ) : (
    <Sign tone="bad" icon="stop">
      {capital(status)}
    </Sign>
  );
}

/** All accounts, newest first, found by name or id. */
export function AccountsPage(): ReactNode {
  const [text, setText] = useState('');
  const navigate = useNavigate();
  const name = useDeferredValue(text.trim());
  const list = useInfiniteQuery(accountsQuery(name));
  const accounts = list.data?.pages.flatMap((page) => page.accounts) ?? [];
  const find = (value: string): void => {
    setText(value);
    if (UUID.test(value.trim())) void navigate({ to: '/accounts/$accountId', params: { accountId: value.trim() } });
  };
  return (
    <Page title="Accounts" beside={<Updated of={[list]} />}>
      <div className="tools">
        <input
          className="input"
          type="search"
          aria-label="Name or id of an account"
          placeholder="Name or id"
          value={text}
          maxLength={200}
          onChange={(event) => find(event.target.value)}
        />
      </div>
      {list.isError && <ErrorNote error={list.error} onRetry={() => list.refetch()} />}
      {list.isPending && <Skeleton lines={6} />}
      {list.isSuccess && accounts.length === 0 && (
        <Empty icon="person" title={name === '' ? 'No accounts yet' : 'No account has this in its name'}>
          <p>
            The command line creates one: <code>millrace admin create-account NAME</code>.
          </p>
        </Empty>
      )}
      {accounts.length > 0 && (
        <Rows
          label="Accounts"
          kind="accounts"
          rows={accounts}
          keyOf={({ id }) => id}
          columns={COLUMNS}
          more={moreOf(list)}
        />
      )}
    </Page>
  );
}

import { useState, type ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { Page } from '../../../src/shell/page';
import { Button } from '../../../src/ui/controls/button';
import { Empty } from '../../../src/ui/display/empty';
import { ErrorNote } from '../../../src/ui/display/error-note';
import { Skeleton } from '../../../src/ui/display/skeleton';
import { Sign } from '../../../src/ui/display/status';
import { Ago, useNow } from '../../../src/ui/display/time';
import { operatorTokensQuery, revokeOperatorToken, type OperatorToken } from '../api/operator-tokens';
import { useMay } from '../api/use-may';
import { Confirm } from '../parts/confirm';
import { Rows, type Column } from '../parts/rows';
import { CreateToken } from './create-token';

const COLUMNS: readonly Column<OperatorToken>[] = [
  {
    name: 'Name',
    cell: ({ name, created_by: maker }) => (
      <div className="stack">
        <span className="mono">{name}</span>
        <span className="small faint">made by {maker}</span>
      </div>
    ),
  },
  { name: 'Role', cell: ({ role }) => role },
  { name: 'Last used', cell: ({ last_used_at: at }) => (at === null ? 'Never' : <Ago at={at} />) },
  { name: 'Ends', cell: (token) => <End of={token} /> },
  { name: '', cell: (token) => <Revoke token={token} /> },
];

/** Tokens of operators: who or what else may use the admin API, and as what. */
export function OperatorsPage(): ReactNode {
  const tokens = useQuery(operatorTokensQuery);
  const [creating, setCreating] = useState(false);
  const mayCreate = useMay('admin');
  return (
    <Page
      title="Operators"
      beside={
        mayCreate && (
          <Button kind="primary" onClick={() => setCreating(true)}>
            New token
          </Button>
        )
      }
    >
      {tokens.isError && <ErrorNote error={tokens.error} onRetry={() => tokens.refetch()} />}
      {tokens.isPending && <Skeleton lines={4} />}
      {tokens.data?.length === 0 && (
        <Empty icon="person" title="No operator tokens yet">
          <p>A token gives a person or a machine a name in the audit log, a role and an end.</p>
        </Empty>
      )}
      {tokens.data !== undefined && tokens.data.length > 0 && (
        <Rows label="Operator tokens" kind="operators" rows={tokens.data} keyOf={({ id }) => id} columns={COLUMNS} />
      )}
      {creating && <CreateToken onClose={() => setCreating(false)} />}
    </Page>
  );
}

function End({ of: { expires_at: end, revoked_at: revoked } }: { of: OperatorToken }): ReactNode {
  const now = useNow();
  if (revoked !== null) return <Sign tone="rest">Revoked</Sign>;
  return Date.parse(end) < now ? <Sign tone="rest">Expired</Sign> : <Ago at={end} />;
}

function Revoke({ token: { id, name, revoked_at: revoked } }: { token: OperatorToken }): ReactNode {
  const [asking, setAsking] = useState(false);
  const mayRevoke = useMay('admin');
  if (revoked !== null || !mayRevoke) return null;
  return (
    <>
      <Button onClick={() => setAsking(true)}>Revoke</Button>
      {asking && (
        <Confirm
          title={`Revoke the token ${name}?`}
          label="Revoke the token"
          done="The token is revoked"
          act={() => revokeOperatorToken(id)}
          onClose={() => setAsking(false)}
        >
          It is refused at once, with the sessions of this console that were opened with it. This cannot be undone.
        </Confirm>
      )}
    </>
  );
}

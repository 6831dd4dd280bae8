import { useState, type ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { apiKeysQuery, type ApiKey } from '../api/api-keys';
import { Page } from '../shell/page';
import { useSession } from '../shell/session-context';
import { Button } from '../ui/controls/button';
import { Empty } from '../ui/display/empty';
import { ErrorNote } from '../ui/display/error-note';
import { Icon } from '../ui/controls/icon';
import { Skeleton } from '../ui/display/skeleton';
import { CreateKey } from './create-key';
import { KeyTable } from './key-table';
import { RevokeKey } from './revoke-key';
import { RotateKey } from './rotate-key';
import './keys.css';

/** The dialog that is open. It belongs to the page: a row may leave the list while its dialog still shows a new key. */
type Dialog = { act: 'create' } | { act: 'rotate' | 'revoke'; apiKey: ApiKey };

/** The API keys of the account. */
export function KeysPage(): ReactNode {
  const { key, may } = useSession();
  if (may('keys:admin')) return <Keys />;
  if (key.id === null) {
    return (
      <Page title="API keys">
        <Empty icon="keys" title="This service has no keys">
          <p>Who may reach a self-hosted service uses it without one, or with its one token.</p>
        </Empty>
      </Page>
    );
  }
  return (
    <Page title="API keys">
      <Empty icon="keys" title="This session may not manage keys">
        <p>
          The key that you signed in with lacks the scope <code>keys:admin</code>. Sign in with a key that has it.
        </p>
      </Empty>
    </Page>
  );
}

function Keys(): ReactNode {
  const session = useSession();
  const list = useQuery(apiKeysQuery);
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const close = (): void => setDialog(null);
  const keys = list.data ?? [];
  const own = keys.find(({ id }) => id === session.key.id) ?? null;
  const create = (
    <Button kind="primary" icon={<Icon name="plus" />} onClick={() => setDialog({ act: 'create' })}>
      New key
    </Button>
  );
  return (
    <Page title="API keys" actions={create}>
      {list.isError && <ErrorNote error={list.error} onRetry={() => list.refetch()} />}
      {list.isPending && <Skeleton lines={6} />}
      {list.isSuccess && keys.length === 0 && (
        <Empty icon="keys" title="No keys yet">
          <p>A program signs its requests with a key. Make one for each program, with only the scopes that it needs.</p>
        </Empty>
      )}
      {keys.length > 0 && (
        <KeyTable
          keys={keys}
          ownId={session.key.id}
          onRotate={(apiKey) => setDialog({ act: 'rotate', apiKey })}
          onRevoke={(apiKey) => setDialog({ act: 'revoke', apiKey })}
        />
      )}
      {dialog?.act === 'create' && <CreateKey own={own} onClose={close} />}
      {dialog?.act === 'rotate' && <RotateKey apiKey={dialog.apiKey} own={own} onClose={close} />}
      {dialog?.act === 'revoke' && <RevokeKey apiKey={dialog.apiKey} keys={keys} onClose={close} />}
    </Page>
  );
}

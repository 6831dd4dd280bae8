import type { ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { accountQuery } from '../api/account';
import { Page } from '../shell/page';
import { useSession } from '../shell/session-context';
import { useSignOut } from '../shell/use-sign-out';
import { Button } from '../ui/controls/button';
import { Empty } from '../ui/display/empty';
import { ErrorNote } from '../ui/display/error-note';
import { Icon } from '../ui/controls/icon';
import { Skeleton } from '../ui/display/skeleton';
import { LabelLimits } from './label-limits';
import { SpendCaps } from './spend-caps';
import { LimitList } from './limit-list';
import { SignedIn } from './signed-in';
import './account.css';

/** The account: who is signed in, its plan, its limits and their use. */
export function AccountPage(): ReactNode {
  const { account, key, may } = useSession();
  const readable = may('usage:read');
  const overview = useQuery({ ...accountQuery, enabled: readable });
  const signOut = useSignOut();
  return (
    <Page
      title="Account"
      width="text"
      beside={<span className="soft clip">{key.id === null ? 'Self-hosted service' : account.name}</span>}
      actions={
        <Button icon={<Icon name="out" />} onClick={() => signOut('everywhere')}>
          Sign out everywhere
        </Button>
      }
    >
      <SignedIn account={overview.data} />
      <section className="panel" aria-labelledby="limits">
        <div className="panel-head">
          <h2 id="limits">Limits</h2>
        </div>
        {overview.data !== undefined && <LimitList account={overview.data} />}
        {overview.isError && <ErrorNote error={overview.error} onRetry={() => overview.refetch()} />}
        {readable && overview.isPending && <Skeleton lines={6} />}
        {!readable && (
          <Empty icon="limits" title="This session may not read them">
            <p>
              The key that you signed in with lacks the scope <code>usage:read</code>. Sign in with a key that has it.
            </p>
          </Empty>
        )}
      </section>
      {readable && <SpendCaps />}
      {readable && <LabelLimits />}
    </Page>
  );
}

import { useState, type ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import { Page } from '../../../src/shell/page';
import { Button } from '../../../src/ui/controls/button';
import { CopyButton } from '../../../src/ui/controls/copy-button';
import { ErrorNote } from '../../../src/ui/display/error-note';
import { Fact, Facts } from '../../../src/ui/display/facts';
import { Skeleton } from '../../../src/ui/display/skeleton';
import { Ago } from '../../../src/ui/display/time';
import { formatCredits } from '../../../src/ui/format';
import { accountQuery, balanceQuery, changeAccount, type Account } from '../api/accounts';
import { useMay } from '../api/use-may';
import { Confirm } from '../parts/confirm';
import { Updated } from '../parts/updated';
import { StatusSign } from './accounts-page';
import { AdjustCredits } from './adjust-credits';
import { ChangeLimits, LimitFacts } from './limits';

const route = getRouteApi('/accounts/$accountId');

/** One account: its state, its limits, its balance. */
export function AccountPage(): ReactNode {
  const { accountId } = route.useParams();
  const query = useQuery(accountQuery(accountId));
  const account = query.data;
  return (
    <Page
      title={account?.name ?? 'Account'}
      above={<Link to="/accounts">Accounts</Link>}
      beside={
        <>
          {account !== undefined && <StatusSign status={account.status} />}
          <CopyButton text={accountId} label="Copy the id" />
          <Updated of={[query]} />
        </>
      }
      actions={account && <Suspend account={account} />}
    >
      {query.isError && <ErrorNote error={query.error} onRetry={() => query.refetch()} />}
      {query.isPending && <Skeleton lines={6} />}
      {account !== undefined && (
        <>
          <section className="panel panel-body" aria-label="Facts">
            <Facts>
              <Fact name="Kind">{account.kind}</Fact>
              <Fact name="Plan">{account.plan}</Fact>
              <Fact name="Weight">{account.weight}</Fact>
              <Fact name="Created">
                <Ago at={account.created_at} />
              </Fact>
              <Fact name="Changed">
                <Ago at={account.updated_at} />
              </Fact>
            </Facts>
          </section>
          <Credits accountId={accountId} />
          <Limits account={account} />
        </>
      )}
    </Page>
  );
}

/** Suspends an account, or reactivates it. The dialog asks for what it was opened for, also when the account has changed since. */
function Suspend({ account: { id, name, status } }: { account: Account }): ReactNode {
  const [asked, setAsked] = useState<'suspend' | 'reactivate' | null>(null);
  const mayAct = useMay('operator');
  if (!mayAct) return null;
  const offered = status === 'active' ? 'suspend' : 'reactivate';
  const suspends = asked === 'suspend';
  return (
    <>
      <Button kind={offered === 'suspend' ? 'danger' : 'plain'} onClick={() => setAsked(offered)}>
        {offered === 'suspend' ? 'Suspend' : 'Reactivate'}
      </Button>
      {asked !== null && (
        <Confirm
          title={suspends ? `Suspend “${name}”?` : `Reactivate “${name}”?`}
          label={suspends ? 'Suspend the account' : 'Reactivate the account'}
          kind={suspends ? 'danger' : 'primary'}
          done={suspends ? 'The account is suspended' : 'The account is active'}
          act={() => changeAccount(id, { status: suspends ? 'suspended' : 'active' })}
          onClose={() => setAsked(null)}
        >
          {suspends
            ? 'All its requests are refused within 5 seconds, and its event streams end. Its jobs run to their end.'
            : 'Its keys and sessions work again within 5 seconds.'}
        </Confirm>
      )}
    </>
  );
}

function Credits({ accountId }: { accountId: string }): ReactNode {
  const balance = useQuery(balanceQuery(accountId));
  const [adjusting, setAdjusting] = useState(false);
  const mayAdjust = useMay('finance');
  return (
    <section className="panel" aria-labelledby="credits">
      <div className="panel-head">
        <h2 id="credits">Credits</h2>
        {mayAdjust && <Button onClick={() => setAdjusting(true)}>Grant or take back</Button>}
      </div>
      <div className="panel-body">
        {balance.isError && <ErrorNote error={balance.error} onRetry={() => balance.refetch()} />}
        {balance.data !== undefined && (
          <Facts>
            <Fact name="Available" lead>
              {formatCredits(balance.data.available_micros)}
            </Fact>
            <Fact name="Held for jobs">{formatCredits(balance.data.held_micros)}</Fact>
          </Facts>
        )}
      </div>
      {adjusting && <AdjustCredits accountId={accountId} onClose={() => setAdjusting(false)} />}
    </section>
  );
}

function Limits({ account }: { account: Account }): ReactNode {
  const [changing, setChanging] = useState(false);
  const mayChange = useMay('operator');
  return (
    <section className="panel" aria-labelledby="limits">
      <div className="panel-head">
        <h2 id="limits">Limits</h2>
        {mayChange && <Button onClick={() => setChanging(true)}>Change</Button>}
      </div>
      <div className="panel-body">
        <LimitFacts account={account} />
      </div>
      {changing && <ChangeLimits account={account} onClose={() => setChanging(false)} />}
    </section>
  );
}

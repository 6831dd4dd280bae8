import type { ReactNode } from 'react';
import { getRouteApi } from '@tanstack/react-router';
import { Page } from '../shell/page';
import { useSession } from '../shell/session-context';
import { BalanceFigures } from './balance-figures';
import { CreditAlert } from './credit-alert';
import { ExportsPanel } from './exports-panel';
import { Ledger } from './ledger';
import { UsageBar } from './usage-bar';
import { UsagePanel } from './usage-panel';
import { DEFAULT_GROUP, DEFAULT_RANGE } from './usage-search';
import './usage.css';

const route = getRouteApi('/usage');

/** What the account has and what it used. A self-hosted service has no credits: it shows use alone. */
export function UsagePage(): ReactNode {
  const { days = DEFAULT_RANGE, by = DEFAULT_GROUP } = route.useSearch();
  const selfHosted = useSession().key.id === null;
  return (
    <Page title="Usage">
      {selfHosted ? (
        <p className="soft">This service is self-hosted: nothing costs credits, so there is no balance.</p>
      ) : (
        <BalanceFigures />
      )}
      {!selfHosted && <CreditAlert />}
      <UsageBar days={days} by={by} />
      <UsagePanel days={days} by={by} measure={selfHosted ? 'jobs' : 'charged_micros'} />
      {!selfHosted && <Ledger />}
      {!selfHosted && <ExportsPanel />}
    </Page>
  );
}

import type { ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { balanceQuery } from '../api/credits';
import { ErrorNote } from '../ui/display/error-note';
import { formatCredits } from '../ui/format';
import { Skeleton } from '../ui/display/skeleton';

/** The credits of the account: those that are free, and those held for jobs that have not ended. */
export function BalanceFigures(): ReactNode {
  const balance = useQuery(balanceQuery);
  if (balance.isPending) return <Skeleton lines={2} />;
  if (balance.data === undefined) {
    return <ErrorNote error={balance.error} onRetry={() => balance.refetch()} title="The balance could not be read" />;
  }
  const { available_micros, held_micros } = balance.data;
  return (
    <dl className="panel balance">
      <div>
        <dt>Available credits</dt>
        <dd className="number">{formatCredits(available_micros)}</dd>
        {available_micros <= 0 && <dd className="small balance-none">New jobs are refused until there are more.</dd>}
      </div>
      <div>
        <dt>Held for jobs that have not ended</dt>
        <dd className="number">{formatCredits(held_micros)}</dd>
      </div>
    </dl>
  );
}

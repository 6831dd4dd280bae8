import type { ReactNode } from 'react';
import type { Account } from '../api/account';
import { Bar } from '../ui/display/bar';
import { LIMITS, limitStateOf, type LimitView } from './limits';

/** The limits of the account, and how much of each is in use. */
export function LimitList({ account }: { account: Account }): ReactNode {
  return (
    <ul className="limits">
      {LIMITS.map((view) => (
        <Limit key={view.limit} view={view} account={account} />
      ))}
    </ul>
  );
}

function Limit({ view, account }: { view: LimitView; account: Account }): ReactNode {
  const { label, note } = view;
  const { text, share, tone } = limitStateOf(view, account);
  return (
    <li>
      <span className="limit-name">
        {label}
        {note !== undefined && <span className="small faint">{note}</span>}
      </span>
      <span className="number">{text}</span>
      {share !== null && <Bar value={share} label={`${label}: ${text}`} tone={tone} />}
    </li>
  );
}

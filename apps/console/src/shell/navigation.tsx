import type { ReactNode } from 'react';
import { Link } from '@tanstack/react-router';
import { Icon } from '../ui/controls/icon';
import { AccountMenu } from './account-menu';
import { Mark } from './mark';
import { usePlaces } from './places';

/** The rooms of the console, and the account. */
export function Navigation({ onPalette }: { onPalette: () => void }): ReactNode {
  return (
    <nav className="navigation" aria-label="Console">
      <Mark />
      <button type="button" className="palette-opener" onClick={onPalette}>
        <Icon name="search" />
        <span>Search</span>
        <kbd>Ctrl K</kbd>
      </button>
      <ul>
        {usePlaces().map(({ to, label, icon }) => (
          <li key={to}>
            <Link to={to} className="place" activeProps={{ 'aria-current': 'page' }}>
              <Icon name={icon} />
              {label}
            </Link>
          </li>
        ))}
      </ul>
      <AccountMenu />
    </nav>
  );
}

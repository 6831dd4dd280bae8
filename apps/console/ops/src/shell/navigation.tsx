import type { ReactNode } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Mark } from '../../../src/shell/mark';
import { THEMES, chooseTheme, useTheme } from '../../../src/shell/theme';
import { Button } from '../../../src/ui/controls/button';
import { Icon } from '../../../src/ui/controls/icon';
import { notifyError } from '../../../src/ui/display/notices';
import { capital } from '../../../src/ui/format';
import { sessionQuery, signOut } from '../api/session';
import { PLACES } from './places';

/** The screens, the theme, and the way out. */
export function Navigation(): ReactNode {
  return (
    <nav className="navigation" aria-label="Operators' console">
      <span className="ops-mark">
        <Mark />
        <span className="ops-tag">Operators</span>
      </span>
      <ul>
        {PLACES.map(({ to, label, icon }) => (
          <li key={to}>
            <Link
              to={to}
              className="place"
              activeOptions={{ exact: to === '/', includeSearch: false }}
              activeProps={{ 'aria-current': 'page' }}
            >
              <Icon name={icon} />
              {label}
            </Link>
          </li>
        ))}
      </ul>
      <ThemeChoice />
      <SignOut />
    </nav>
  );
}

function ThemeChoice(): ReactNode {
  const theme = useTheme();
  return (
    <label className="ops-theme small soft">
      Theme
      <select
        className="input"
        value={theme}
        onChange={({ target }) => chooseTheme(THEMES.find((name) => name === target.value) ?? 'system')}
      >
        {THEMES.map((name) => (
          <option key={name} value={name}>
            {capital(name)}
          </option>
        ))}
      </select>
    </label>
  );
}

function SignOut(): ReactNode {
  const client = useQueryClient();
  const forget = (): void => {
    // The session stays a known query: the shell reads it.
    client.setQueryData(sessionQuery.queryKey, null);
    client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionQuery.queryKey[0] });
  };
  const leave = (): void => {
    signOut().then(forget, (error: unknown) => notifyError('Signing out failed', error));
  };
  return (
    <Button icon={<Icon name="out" />} onClick={leave}>
      Sign out
    </Button>
  );
}

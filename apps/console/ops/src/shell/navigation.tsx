import { useState, type ReactNode } from 'react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Mark } from '../../../src/shell/mark';
import { THEMES, chooseTheme, useTheme } from '../../../src/shell/theme';
import { Button } from '../../../src/ui/controls/button';
import { Icon } from '../../../src/ui/controls/icon';
import { notifyError } from '../../../src/ui/display/notices';
import { capital } from '../../../src/ui/format';
import { setReason, useReason } from '../api/reason';
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
      <Holder />
      <ThemeChoice />
      <SignOut />
    </nav>
  );
}

/** Who is signed in, and why they do what they do. */
function Holder(): ReactNode {
  const { data: session } = useQuery(sessionQuery);
  if (!session) return null;
  return (
    <div className="ops-holder small">
      <span className="mono" title="As the audit log names you">
        {session.actor}
      </span>
      {session.actor !== session.role && <span className="soft">{session.role}</span>}
      <Reason />
    </div>
  );
}

function Reason(): ReactNode {
  const client = useQueryClient();
  const given = useReason();
  const [text, setText] = useState(given);
  const give = (): void => {
    if (text.trim() === given) return;
    setReason(text);
    // What was refused for want of a reason is asked again.
    void client.invalidateQueries();
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        give();
      }}
    >
      <label className="soft">
        Why you act
        <input
          className="input"
          value={text}
          maxLength={500}
          placeholder="Ticket, or in a few words"
          title="Goes with every act into the audit log"
          onChange={(event) => setText(event.target.value)}
          onBlur={give}
        />
      </label>
    </form>
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
    // It stays a known query, which the shell reads again.
    void client.resetQueries({ queryKey: sessionQuery.queryKey, exact: true });
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

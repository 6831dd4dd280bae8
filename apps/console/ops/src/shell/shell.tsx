import { useState, type ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { Outlet, useRouterState } from '@tanstack/react-router';
import { Mark } from '../../../src/shell/mark';
import { Button } from '../../../src/ui/controls/button';
import { Icon } from '../../../src/ui/controls/icon';
import { ErrorNote } from '../../../src/ui/display/error-note';
import { useEnded } from '../../../src/ui/display/session-ended';
import { useMainFocus } from '../../../src/ui/use-main-focus';
import { sessionQuery } from '../api/session';
import { Navigation } from './navigation';
import { SignIn } from './sign-in';
import '../../../src/shell/shell.css';
import './ops.css';

/** Everything around a screen. Without a session it asks for one, and keeps the address. */
export function Shell(): ReactNode {
  const session = useQuery(sessionQuery);
  const ended = useEnded(session.data);
  if (session.isPending) {
    return (
      <main className="opening" aria-busy="true">
        <Mark />
      </main>
    );
  }
  if (session.data === undefined) {
    return (
      <main className="opening">
        <ErrorNote error={session.error} onRetry={() => session.refetch()} title="The console could not sign in" />
      </main>
    );
  }
  return session.data === null ? <SignIn ended={ended} /> : <Frame />;
}

function Frame(): ReactNode {
  const pathname = useRouterState({ select: (state) => state.location.pathname });
  // The screen over which the navigation was opened on a phone: on another one it is closed.
  const [menuOver, setMenuOver] = useState<string | null>(null);
  const menu = menuOver === pathname;
  useMainFocus();
  return (
    <div className="frame" data-menu={menu}>
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <header className="top">
        <Button
          kind="quiet"
          icon={<Icon name={menu ? 'close' : 'menu'} />}
          aria-label={menu ? 'Close the navigation' : 'Open the navigation'}
          aria-expanded={menu}
          onClick={() => setMenuOver(menu ? null : pathname)}
        />
        <Mark />
        <span className="ops-tag">Operators</span>
      </header>
      <Navigation />
      <main id="main" tabIndex={-1}>
        <Outlet />
      </main>
    </div>
  );
}

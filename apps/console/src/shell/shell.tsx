import { useEffect, useState, type ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { Outlet, useRouterState } from '@tanstack/react-router';
import { askedQuery, offerQuery, sessionQuery } from '../api/session';
import { Button } from '../ui/controls/button';
import { ErrorNote } from '../ui/display/error-note';
import { Icon } from '../ui/controls/icon';
import { useMainFocus } from '../ui/use-main-focus';
import { leavesNothing } from './access';
import { Mark } from './mark';
import { Navigation } from './navigation';
import { Palette } from './palette';
import { Offer } from './offer';
import { ReaderFrame } from './reader-frame';
import { useEnded } from '../ui/display/session-ended';
import { SessionContext } from './session-context';
import { SignIn } from './sign-in';
import './shell.css';

/** Without the base of the router, or with it. */
const DOCS = /^(\/console)?\/docs(\/|$)/;

/** Everything around a screen. Without a session it asks for one, and keeps the address; the docs need none. */
export function Shell(): ReactNode {
  const offer = useQuery(offerQuery);
  // A link may sign in: who is signed in is read after that.
  const session = useQuery({ ...sessionQuery, enabled: !offer.isPending });
  const ended = useEnded(session.data);
  const { data: asked } = useQuery(askedQuery);
  // Of the page that is shown: the address changes before it does.
  const isDocs = useRouterState({ select: ({ matches }) => DOCS.test(matches.at(-1)?.pathname ?? '') });
  if (session.isPending) return <Opening />;
  if (offer.data !== null && !leavesNothing(session.data ?? null, offer.data))
    return (
      <Offer
        offer={offer.data}
        error={offer.error}
        onRetry={() => offer.refetch()}
        asked={asked}
        left={session.data?.account ?? null}
      />
    );
  if (isDocs && !session.data) return <ReaderFrame />;
  if (session.data === undefined) {
    return (
      <main className="opening">
        <ErrorNote error={session.error} onRetry={() => session.refetch()} title="The console could not sign in" />
      </main>
    );
  }
  if (session.data === null) return <SignIn asked={asked} ended={ended} />;
  return (
    <SessionContext value={session.data}>
      <Frame key={session.data.account.id} />
    </SessionContext>
  );
}

function Frame(): ReactNode {
  const [palette, setPalette] = useState(false);
  const pathname = useRouterState({ select: (state) => state.location.pathname });
  // The screen over which the navigation was opened on a phone: on another one it is closed.
  const [menuOver, setMenuOver] = useState<string | null>(null);
  const menu = menuOver === pathname;
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      // A dialog that is open is answered first: a command would leave its page.
      if (document.querySelector('.modal:not(.palette)') === null) setPalette((open) => !open);
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
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
        <Button
          kind="quiet"
          icon={<Icon name="search" />}
          aria-label="Search and commands"
          onClick={() => setPalette(true)}
        />
      </header>
      <Navigation onPalette={() => setPalette(true)} />
      <main id="main" tabIndex={-1}>
        <Outlet />
      </main>
      <Palette open={palette} onClose={() => setPalette(false)} />
    </div>
  );
}

function Opening(): ReactNode {
  return (
    <main className="opening" aria-busy="true">
      <Mark />
    </main>
  );
}

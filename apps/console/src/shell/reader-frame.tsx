import type { ReactNode } from 'react';
import { Link, Outlet } from '@tanstack/react-router';
import { Mark } from './mark';

/** What is around the docs for people who have not signed in. */
export function ReaderFrame(): ReactNode {
  return (
    <>
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <header className="reader-top">
        <Mark />
        <Link to="/jobs" className="button">
          Sign in
        </Link>
      </header>
      <main id="main" tabIndex={-1}>
        <Outlet />
      </main>
    </>
  );
}

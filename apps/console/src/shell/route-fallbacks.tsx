import type { ReactNode } from 'react';
import { Link, Navigate } from '@tanstack/react-router';
import { Empty } from '../ui/display/empty';
import { Page } from './page';
import { usePlaces } from './places';

/** The start: the first place that is open to the session. */
export function Start(): ReactNode {
  const [first] = usePlaces();
  return <Navigate to={first?.to ?? '/account'} replace />;
}

/** An address that names no screen. */
export function NotFound(): ReactNode {
  return (
    <Page title="Not found">
      <Empty icon="search" title="There is no such page">
        <p>The address may be mistyped, or of another version of the console.</p>
        <Link to="/">Go to the first page</Link>
      </Empty>
    </Page>
  );
}

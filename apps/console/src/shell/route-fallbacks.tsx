import type { ReactNode } from 'react';
import { Link } from '@tanstack/react-router';
import { Empty } from '../ui/display/empty';
import { Page } from './page';

/** An address that names no screen. */
export function NotFound(): ReactNode {
  return (
    <Page title="Not found">
      <Empty icon="search" title="There is no such page">
        <p>The address may be mistyped, or of another version of the console.</p>
        <Link to="/jobs" search={{}}>
          Go to your jobs
        </Link>
      </Empty>
    </Page>
  );
}

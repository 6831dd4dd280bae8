import type { ReactNode } from 'react';
import { Link } from '@tanstack/react-router';
import { Page } from '../../../src/shell/page';
import { Empty } from '../../../src/ui/display/empty';

/** An address that names no screen. */
export function NotFound(): ReactNode {
  return (
    <Page title="Not found">
      <Empty icon="search" title="There is no such page">
        <p>The address may be mistyped, or of another version of the console.</p>
        <Link to="/">Go to the overview</Link>
      </Empty>
    </Page>
  );
}

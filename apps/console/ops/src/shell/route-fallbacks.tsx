import type { ReactNode } from 'react';
import { Link, type ErrorComponentProps } from '@tanstack/react-router';
import { Page } from '../../../src/shell/page';
import { Empty } from '../../../src/ui/display/empty';
import { ErrorNote } from '../../../src/ui/display/error-note';

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

/** A screen that failed: a fault of the console, or a part of it that could not be loaded. */
export function RouteError({ error, reset }: ErrorComponentProps): ReactNode {
  return (
    <Page title="Something failed">
      <ErrorNote error={error} onRetry={reset} title="This screen could not be shown" />
    </Page>
  );
}

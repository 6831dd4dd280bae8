import type { ReactNode } from 'react';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { Button } from '../ui/controls/button';
import { Icon } from '../ui/controls/icon';
import { ErrorNote } from '../ui/display/error-note';
import { Page } from './page';

const CURE =
  'A part of the console could not be loaded, because the connection was away or the console was updated, or it has a fault. Load the page again.';

/** A screen that failed. A module that could not be loaded stays so in the page: only loading the page again asks for it again. */
export function RouteError({ error }: ErrorComponentProps): ReactNode {
  return (
    <Page title="Something failed">
      <ErrorNote error={error} title="This screen could not be shown" cure={CURE} />
      <Button icon={<Icon name="again" />} onClick={() => window.location.reload()}>
        Load the page again
      </Button>
    </Page>
  );
}

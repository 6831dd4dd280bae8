import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import '../../src/ui/tokens.css';
import '../../src/ui/base.css';
import { applyTheme } from '../../src/shell/theme';
import { OutageHelp } from '../../src/ui/display/error-note';
import { Notices } from '../../src/ui/display/notices';
import { queryClient } from './api/query-client';
import { router } from './router';
import { returnToPlace } from './shell/kept-place';

const WHAT_TO_CHECK =
  'Check that an api process is ready (/health/ready on its ops port), what its log says, and that what stands in front of the ops port reaches it.';

applyTheme();
returnToPlace();

const root = document.getElementById('root');
if (root === null) throw new Error('The page has no element for the console.');

createRoot(root).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queryClient}>
        <OutageHelp value={WHAT_TO_CHECK}>
          <RouterProvider router={router} />
        </OutageHelp>
        <Notices />
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);

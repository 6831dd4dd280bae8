import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import './ui/tokens.css';
import './ui/base.css';
import './ui/display/records.css';
import { createQueryClient } from './api/query-client';
import { followAccount, sessionQuery } from './api/session';
import { router } from './router';
import { ErrorDocsLink, StatusLink, applyTheme } from './shell';
import { DocsOfError, OutageHelp } from './ui/display/error-note';
import { Notices, notify } from './ui/display/notices';

applyTheme();

const root = document.getElementById('root');
if (root === null) throw new Error('The page has no element for the console.');

const queryClient = createQueryClient(sessionQuery.queryKey);
followAccount(queryClient, ({ account }) => notify(`This browser is signed in to ${account.name} now`));

createRoot(root).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queryClient}>
        <DocsOfError value={(code) => <ErrorDocsLink code={code} />}>
          <OutageHelp value={<StatusLink />}>
            <RouterProvider router={router} />
          </OutageHelp>
        </DocsOfError>
        <Notices />
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);

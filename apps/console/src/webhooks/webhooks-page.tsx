import { useState, type ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { webhookEndpointsQuery, type WebhookEndpoint } from '../api/webhooks';
import { Page } from '../shell/page';
import { useSession } from '../shell/session-context';
import { Button } from '../ui/controls/button';
import { Icon } from '../ui/controls/icon';
import { Empty } from '../ui/display/empty';
import { ErrorNote } from '../ui/display/error-note';
import { Skeleton } from '../ui/display/skeleton';
import { Ago } from '../ui/display/time';
import { CreateEndpoint } from './create-endpoint';
import { EndpointSign } from './endpoint-sign';
import { EventsNote } from './events-note';
import './webhooks.css';

/** Where the account has the ends of its jobs sent. */
export function WebhooksPage(): ReactNode {
  const [creating, setCreating] = useState(false);
  const mayWrite = useSession().may('webhooks:write');
  const list = useQuery(webhookEndpointsQuery);
  const endpoints = list.data ?? [];
  const create = (
    <Button kind="primary" icon={<Icon name="plus" />} onClick={() => setCreating(true)}>
      New endpoint
    </Button>
  );
  return (
    <Page title="Webhooks" actions={mayWrite && endpoints.length > 0 ? create : undefined}>
      {list.isError && <ErrorNote error={list.error} onRetry={() => list.refetch()} />}
      {list.isPending && <Skeleton lines={4} />}
      {list.isSuccess && endpoints.length === 0 && (
        <Empty icon="webhooks" title="No endpoints yet">
          <p>
            Have the ends of your jobs sent to a server of yours, instead of asking for them. Each message is signed and
            repeated until your server takes it:{' '}
            <Link to="/docs/$" params={{ _splat: 'webhooks' }}>
              how webhooks work
            </Link>
            .
          </p>
          {mayWrite ? create : <p>This session may not create one: its key needs the scope webhooks:write.</p>}
        </Empty>
      )}
      {endpoints.length > 0 && <EndpointTable endpoints={endpoints} />}
      {creating && <CreateEndpoint onClose={() => setCreating(false)} />}
    </Page>
  );
}

function EndpointTable({ endpoints }: { endpoints: WebhookEndpoint[] }): ReactNode {
  return (
    <div className="panel" role="table" aria-label="Endpoints">
      <div className="record endpoint-row head" role="row">
        {['Endpoint', 'Events', 'Created', 'Status'].map((name) => (
          <span key={name} role="columnheader">
            {name}
          </span>
        ))}
      </div>
      {endpoints.map((endpoint) => (
        <div key={endpoint.id} className="record endpoint-row" role="row">
          <span role="cell" className="endpoint-name">
            <Link
              to="/webhooks/$endpointId"
              params={{ endpointId: endpoint.id }}
              className="mono clip"
              title={endpoint.url}
            >
              {endpoint.url}
            </Link>
            {endpoint.description !== '' && <span className="small soft">{endpoint.description}</span>}
          </span>
          <span role="cell" className="tags endpoint-events">
            <EventsNote events={endpoint.events} />
          </span>
          <span role="cell" className="soft">
            <Ago at={endpoint.created_at} />
          </span>
          <span role="cell">
            <EndpointSign endpoint={endpoint} />
          </span>
        </div>
      ))}
    </div>
  );
}

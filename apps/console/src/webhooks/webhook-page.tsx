import type { ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import { webhookEndpointQuery, type WebhookEndpoint } from '../api/webhooks';
import { Page } from '../shell/page';
import { useSession } from '../shell/session-context';
import { CopyButton } from '../ui/controls/copy-button';
import { Icon } from '../ui/controls/icon';
import { Caution } from '../ui/display/caution';
import { ErrorNote } from '../ui/display/error-note';
import { Fact, Facts } from '../ui/display/facts';
import { Skeleton } from '../ui/display/skeleton';
import { Ago } from '../ui/display/time';
import { EndpointActions } from './endpoint-actions';
import { EndpointSign } from './endpoint-sign';
import { EventsNote } from './events-note';
import { MessageLog } from './message-log';
import './webhooks.css';

const route = getRouteApi('/webhooks/$endpointId');

/** Why nothing is sent, and what to do about it. */
const DISABLED: Record<NonNullable<WebhookEndpoint['disabled_reason']>, string> = {
  by_owner: 'Events are recorded and wait. Enable it to have them sent.',
  failing: 'No attempt succeeded for three days. Enable it when your server is well: what waits is sent then.',
  gone: 'Your server answered 410: that it is gone. Enable it when it is back: what waits is sent then.',
};

/** One endpoint: what it gets, what can be done with it, and the log of what was sent. */
export function WebhookPage(): ReactNode {
  const { endpointId } = route.useParams();
  const { state } = route.useSearch();
  const mayWrite = useSession().may('webhooks:write');
  const query = useQuery(webhookEndpointQuery(endpointId));
  const endpoint = query.data;
  return (
    <Page
      title={endpoint === undefined ? 'Webhook' : new URL(endpoint.url).host}
      above={
        <Link to="/webhooks" className="back">
          <Icon name="left" size={14} />
          Webhooks
        </Link>
      }
      beside={endpoint && <EndpointSign endpoint={endpoint} />}
      actions={endpoint && mayWrite && <EndpointActions endpoint={endpoint} />}
    >
      {query.isError && <ErrorNote error={query.error} onRetry={() => query.refetch()} />}
      {query.isPending && <Skeleton lines={6} />}
      {endpoint && (
        <>
          {endpoint.disabled_reason !== null && <Caution>{DISABLED[endpoint.disabled_reason]}</Caution>}
          <EndpointFacts endpoint={endpoint} />
          <MessageLog endpointId={endpoint.id} state={state} mayWrite={mayWrite} />
        </>
      )}
    </Page>
  );
}

function EndpointFacts({ endpoint }: { endpoint: WebhookEndpoint }): ReactNode {
  const { url, description, events, created_at: createdAt, failing_since: failing } = endpoint;
  return (
    <div className="panel record-facts">
      <div className="copy-line">
        <code title={url}>{url}</code>
        <CopyButton text={url} label="Copy the URL" />
      </div>
      <Facts>
        <Fact name="Events">
          <span className="tags">
            <EventsNote events={events} />
          </span>
        </Fact>
        <Fact name="Created">
          <Ago at={createdAt} />
        </Fact>
        {failing !== null && (
          <Fact name="Failing since">
            <Ago at={failing} />
          </Fact>
        )}
        {description !== '' && <Fact name="Description">{description}</Fact>}
      </Facts>
    </div>
  );
}

import type { ReactNode } from 'react';
import type { WebhookEvent } from '../api/webhooks';
import { ALL_EVENTS } from './events';

/** The events that an endpoint gets. */
export function EventsNote({ events }: { events: WebhookEvent[] }): ReactNode {
  if (ALL_EVENTS.every((event) => events.includes(event))) return <span className="soft">All events</span>;
  return events.map((event) => (
    <span key={event} className="tag mono">
      {event}
    </span>
  ));
}

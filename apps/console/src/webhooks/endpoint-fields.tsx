import type { ReactNode } from 'react';
import type { WebhookEndpointDraft } from '../api/webhooks';
import { Field } from '../ui/controls/field';
import { ALL_EVENTS, EVENT_TEXTS } from './events';

const URL_CHARACTERS = 2_048;
const DESCRIPTION_CHARACTERS = 200;

interface EndpointFieldsProps {
  draft: WebhookEndpointDraft;
  onChange: (changes: Partial<WebhookEndpointDraft>) => void;
}

/** What its owner decides of an endpoint. */
export function EndpointFields({ draft, onChange }: EndpointFieldsProps): ReactNode {
  const { url, events, description } = draft;
  return (
    <>
      <Field label="URL" note="Your server gets a POST there. It is https:// and names a public host.">
        {(ids) => (
          <input
            {...ids}
            className="input"
            type="url"
            placeholder="https://example.com/hooks/millrace"
            value={url}
            maxLength={URL_CHARACTERS}
            onChange={(event) => onChange({ url: event.target.value })}
            autoFocus
            required
          />
        )}
      </Field>
      <fieldset className="choices">
        <legend>Events</legend>
        {ALL_EVENTS.map((event) => (
          <label key={event}>
            <input
              type="checkbox"
              aria-label={event}
              checked={events.includes(event)}
              onChange={({ target }) =>
                onChange({
                  events: target.checked ? [...events, event] : events.filter((other) => other !== event),
                })
              }
            />
            <span className="mono">{event}</span>
            <span className="small soft">{EVENT_TEXTS[event]}</span>
          </label>
        ))}
        {events.length === 0 && <p className="field-error">Choose at least one event.</p>}
      </fieldset>
      <Field label="Description" note="Optional: a note for people.">
        {(ids) => (
          <input
            {...ids}
            className="input"
            value={description}
            maxLength={DESCRIPTION_CHARACTERS}
            onChange={(event) => onChange({ description: event.target.value })}
          />
        )}
      </Field>
    </>
  );
}

/** Whether the service may take it; the service decides which hosts it sends to. */
export function isComplete({ url, events }: WebhookEndpointDraft): boolean {
  return URL.canParse(url.trim()) && events.length > 0;
}

import { useState, type ReactNode } from 'react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { webhookMessagesQuery, type MessageState } from '../api/webhooks';
import { Button } from '../ui/controls/button';
import { Icon } from '../ui/controls/icon';
import { ErrorNote } from '../ui/display/error-note';
import { Skeleton } from '../ui/display/skeleton';
import { MessageItem } from './message-item';
import { ReplaySpanDialog } from './replay-span-dialog';
import { STATE_LABELS, isMessageState } from './webhook-search';

interface MessageLogProps {
  endpointId: string;
  /** Only messages in this state. */
  state: MessageState | undefined;
  mayWrite: boolean;
}

/** What was sent to an endpoint and what waits, newest first, with what came of each attempt. */
export function MessageLog({ endpointId, state, mayWrite }: MessageLogProps): ReactNode {
  const [replaying, setReplaying] = useState(false);
  const list = useInfiniteQuery(webhookMessagesQuery(endpointId, state));
  const messages = list.data?.pages.flatMap((page) => page.messages) ?? [];
  // A page may have nothing and not be the last: what is in the state may be far back.
  const foundLast = (list.data?.pages.at(-1)?.messages.length ?? 0) > 0;
  return (
    <section className="panel" aria-labelledby="webhook-log">
      <div className="panel-head webhook-log-head">
        <h2 id="webhook-log">Messages</h2>
        <StateFilter state={state} />
        {mayWrite && (
          <Button icon={<Icon name="again" />} onClick={() => setReplaying(true)}>
            Send a time span again
          </Button>
        )}
      </div>
      {list.isPending && <Skeleton lines={5} />}
      {list.isError && <ErrorNote error={list.error} onRetry={() => list.refetch()} />}
      {list.isSuccess && messages.length === 0 && (
        <p className="panel-text soft">{nothingIn(state, list.hasNextPage)}</p>
      )}
      {messages.length > 0 && (
        <ul className="messages" aria-label="Messages">
          {messages.map((message) => (
            <MessageItem key={message.id} endpointId={endpointId} message={message} mayWrite={mayWrite} />
          ))}
        </ul>
      )}
      {list.hasNextPage && (
        <div className="panel-text">
          <Button busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            {foundLast ? 'Earlier ones' : 'Look further back'}
          </Button>
        </div>
      )}
      {replaying && <ReplaySpanDialog endpointId={endpointId} onClose={() => setReplaying(false)} />}
    </section>
  );
}

function nothingIn(state: MessageState | undefined, hasMore: boolean): string {
  if (state === undefined)
    return 'Nothing was sent yet. Send a test, or run a job: its end appears here within a second.';
  const label = STATE_LABELS[state].toLowerCase();
  return hasMore ? `None of the latest messages is in this state: ${label}.` : `No message is in this state: ${label}.`;
}

/** The filter lives in the address, so that back, reload and links keep it. */
function StateFilter({ state }: { state: MessageState | undefined }): ReactNode {
  const navigate = useNavigate({ from: '/webhooks/$endpointId' });
  return (
    <select
      className="input"
      aria-label="State of messages"
      value={state ?? ''}
      onChange={({ target: { value } }) => void navigate({ search: isMessageState(value) ? { state: value } : {} })}
    >
      <option value="">Any state</option>
      {Object.entries(STATE_LABELS).map(([name, label]) => (
        <option key={name} value={name}>
          {label}
        </option>
      ))}
    </select>
  );
}

import { useId, type ReactNode } from 'react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { replayWebhookMessage, type MessageState, type WebhookAttempt, type WebhookMessage } from '../api/webhooks';
import { Button } from '../ui/controls/button';
import type { IconName } from '../ui/controls/icon';
import { notify, notifyError } from '../ui/display/notices';
import { Sign } from '../ui/display/status';
import { Ago } from '../ui/display/time';
import { formatDuration, shortId } from '../ui/format';
import { STATE_LABELS } from './webhook-search';

const SIGNS: Record<MessageState, { tone: 'busy' | 'good' | 'bad'; icon: IconName }> = {
  pending: { tone: 'busy', icon: 'clock' },
  delivered: { tone: 'good', icon: 'check' },
  failed: { tone: 'bad', icon: 'warning' },
};

interface MessageItemProps {
  endpointId: string;
  message: WebhookMessage;
  mayWrite: boolean;
}

/** A message, its attempts, and how to send it again. */
export function MessageItem({ endpointId, message, mayWrite }: MessageItemProps): ReactNode {
  const {
    id,
    type,
    job_id: job,
    batch_id: batch,
    state,
    created_at: createdAt,
    next_attempt_at: next,
    attempts,
  } = message;
  const name = useId();
  const last = attempts.at(-1);
  return (
    <li aria-labelledby={name}>
      <div className="message-head">
        <Sign {...SIGNS[state]}>{STATE_LABELS[state]}</Sign>
        <span id={name} className="mono">
          {type}
        </span>
        {job !== null && (
          <Link to="/jobs/$jobId" params={{ jobId: job }} className="mono" title={job}>
            {shortId(job)}
          </Link>
        )}
        {batch !== null && (
          <span className="mono" title={batch}>
            {shortId(batch)}
          </span>
        )}
        <span className="small soft">
          <Ago at={createdAt} />
          {next !== null && attempts.length > 0 && (
            <>
              {' '}
              · next attempt <Ago at={next} />
            </>
          )}
        </span>
        {mayWrite && state !== 'pending' && <Replay endpointId={endpointId} messageId={id} />}
      </div>
      {last === undefined ? (
        <p className="small soft">No attempt yet.</p>
      ) : (
        <details className="message-attempts">
          <summary className="small">
            {attempts.length === 1 ? '1 attempt' : `${attempts.length} attempts`}, the last: {outcomeOf(last)}
          </summary>
          <p className="small faint">
            <code>webhook-id: {id}</code>
          </p>
          <ol>
            {attempts.map((attempt) => (
              <li key={attempt.attempt}>
                <p className="small">
                  {attempt.attempt}. {outcomeOf(attempt)} · {formatDuration(attempt.duration_ms)} ·{' '}
                  <Ago at={attempt.at} />
                </p>
                {attempt.answer !== '' && (
                  <pre tabIndex={0} aria-label={`Answer to attempt ${attempt.attempt}`}>
                    {attempt.answer}
                  </pre>
                )}
              </li>
            ))}
          </ol>
        </details>
      )}
    </li>
  );
}

function Replay({ endpointId, messageId }: { endpointId: string; messageId: string }): ReactNode {
  const client = useQueryClient();
  const replay = useMutation({
    mutationFn: () => replayWebhookMessage(endpointId, messageId),
    onSuccess: () => notify('The message is sent again'),
    onError: (error) => notifyError('The message was not sent again', error),
    onSettled: () => client.invalidateQueries({ queryKey: ['webhook-messages', endpointId] }),
  });
  return (
    <Button kind="quiet" busy={replay.isPending} onClick={() => replay.mutate()}>
      Send again
    </Button>
  );
}

/** What came of an attempt: the status of the answer, or why there was none. */
function outcomeOf({ status, error }: WebhookAttempt): string {
  return status === null ? (error ?? 'no answer') : `answered ${status}`;
}

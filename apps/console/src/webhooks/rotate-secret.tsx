import { useState, type ReactNode } from 'react';
import { useMutation } from '@tanstack/react-query';
import { rotateWebhookSecret } from '../api/webhooks';
import { Button } from '../ui/controls/button';
import { Field } from '../ui/controls/field';
import { ErrorNote } from '../ui/display/error-note';
import { SecretDialog } from './secret-dialog';

const HOUR_SECONDS = 3_600;
const DAY_SECONDS = 24 * HOUR_SECONDS;

const OVERLAPS = [
  { seconds: 0, label: 'Not at all: it signs nothing more' },
  { seconds: HOUR_SECONDS, label: '1 hour' },
  { seconds: DAY_SECONDS, label: '1 day' },
  { seconds: 7 * DAY_SECONDS, label: '7 days' },
  { seconds: 30 * DAY_SECONDS, label: '30 days' },
];

/** Replaces what messages are signed with, and shows the new secret once. */
export function RotateSecret({ endpointId, onClose }: { endpointId: string; onClose: () => void }): ReactNode {
  const [overlapSeconds, setOverlapSeconds] = useState(DAY_SECONDS);
  const rotate = useMutation({ mutationFn: () => rotateWebhookSecret(endpointId, overlapSeconds) });
  return (
    <SecretDialog
      pending={rotate.isPending}
      title="Rotate the secret?"
      issued={rotate.data}
      onClose={onClose}
      action={
        <Button kind="primary" busy={rotate.isPending} onClick={() => rotate.mutate()}>
          Rotate the secret
        </Button>
      }
    >
      <p className="soft">Messages are signed with a new secret, which you see once.</p>
      <Field label="The old secret also signs for" note="Time for your server to change over.">
        {(ids) => (
          <select
            {...ids}
            className="input"
            value={overlapSeconds}
            onChange={(event) => setOverlapSeconds(Number(event.target.value))}
          >
            {OVERLAPS.map(({ seconds, label }) => (
              <option key={seconds} value={seconds}>
                {label}
              </option>
            ))}
          </select>
        )}
      </Field>
      {rotate.isError && <ErrorNote error={rotate.error} title="The secret was not rotated" />}
    </SecretDialog>
  );
}

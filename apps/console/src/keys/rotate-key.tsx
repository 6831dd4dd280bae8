import { useState, type ReactNode } from 'react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { apiKeysQuery, rotateApiKey, type ApiKey } from '../api/api-keys';
import { Button } from '../ui/controls/button';
import { ErrorNote } from '../ui/display/error-note';
import { Field } from '../ui/controls/field';
import { Caution } from '../ui/display/caution';
import { EndsWithSession } from './ends-with-session';
import { KeyDialog } from './key-dialog';

const DAY_SECONDS = 86_400;
const HOUR_SECONDS = 3_600;

const OVERLAPS = [
  { seconds: 0, label: 'Not at all: it is refused at once' },
  { seconds: 60, label: '1 minute' },
  { seconds: HOUR_SECONDS, label: '1 hour' },
  { seconds: DAY_SECONDS, label: '1 day' },
  { seconds: 7 * DAY_SECONDS, label: '7 days' },
  { seconds: 30 * DAY_SECONDS, label: '30 days' },
];

/** The session ends with its key: the overlap leaves time to copy the new one. */
const LEAST_OF_OWN_SECONDS = HOUR_SECONDS;

interface RotateKeyProps {
  apiKey: ApiKey;
  /** The key as which the session acts. */
  own: ApiKey | null;
  onClose: () => void;
}

/** Replaces a key by one of the same name and scopes, and shows that once. */
export function RotateKey({ apiKey, own, onClose }: RotateKeyProps): ReactNode {
  const [overlapSeconds, setOverlapSeconds] = useState(DAY_SECONDS);
  const isOwn = apiKey.id === own?.id;
  const client = useQueryClient();
  const rotate = useMutation({
    mutationFn: () => rotateApiKey(apiKey.id, overlapSeconds),
    onSuccess: () => void client.invalidateQueries({ queryKey: apiKeysQuery.queryKey }),
  });
  return (
    <KeyDialog
      pending={rotate.isPending}
      title={`Rotate ${apiKey.name}?`}
      issued={rotate.data}
      onClose={onClose}
      action={
        <Button kind="primary" busy={rotate.isPending} onClick={() => rotate.mutate()}>
          Rotate the key
        </Button>
      }
    >
      <p className="soft">A new key of the same name, scopes and expiry replaces this one. You see it once.</p>
      <Field label="The old key keeps working for" note="Time for your programs to change over.">
        {(ids) => (
          <select
            {...ids}
            className="input"
            value={overlapSeconds}
            onChange={(event) => setOverlapSeconds(Number(event.target.value))}
          >
            {OVERLAPS.filter(({ seconds }) => !isOwn || seconds >= LEAST_OF_OWN_SECONDS).map(({ seconds, label }) => (
              <option key={seconds} value={seconds}>
                {label}
              </option>
            ))}
          </select>
        )}
      </Field>
      {isOwn ? (
        <Caution>You are signed in as this key: this session ends when the old key does.</Caution>
      ) : (
        <EndsWithSession own={own} />
      )}
      {rotate.isError && <ErrorNote error={rotate.error} title="The key was not rotated" />}
    </KeyDialog>
  );
}

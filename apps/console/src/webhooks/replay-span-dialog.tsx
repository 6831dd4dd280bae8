import { useId, useState, type FormEvent, type ReactNode } from 'react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { replayWebhookMessages } from '../api/webhooks';
import { Button } from '../ui/controls/button';
import { Field } from '../ui/controls/field';
import { Modal } from '../ui/controls/modal';
import { ErrorNote } from '../ui/display/error-note';
import { notify } from '../ui/display/notices';

/** Sends the messages of a time span again: those that were given up, or all. */
export function ReplaySpanDialog({ endpointId, onClose }: { endpointId: string; onClose: () => void }): ReactNode {
  const [since, setSince] = useState('');
  const [until, setUntil] = useState('');
  const [delivered, setDelivered] = useState(false);
  /** Where the next request of this span goes on. */
  const [cursor, setCursor] = useState<string>();
  /** Another span begins at its beginning. */
  const change =
    <T,>(set: (value: T) => void) =>
    (value: T): void => {
      set(value);
      setCursor(undefined);
    };
  const formId = useId();
  const client = useQueryClient();
  const replay = useMutation({
    mutationFn: () =>
      replayWebhookMessages(endpointId, {
        ...span('since', since),
        ...span('until', until),
        delivered,
        ...(cursor !== undefined && { cursor }),
      }),
    onSuccess: ({ replayed, more, next_cursor: next }) => {
      const count = replayed === 1 ? '1 message is' : `${replayed} messages are`;
      notify(`${count} sent again${more ? '; there may be more' : ''}`);
      if (more) setCursor(next);
      else onClose();
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['webhook-messages', endpointId] }),
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    replay.mutate();
  };
  return (
    <Modal
      title="Send a time span again"
      open
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" form={formId} busy={replay.isPending}>
            {cursor === undefined ? 'Send them again' : 'Send the next ones again'}
          </Button>
        </>
      }
    >
      <form id={formId} className="fields" onSubmit={submit}>
        <p className="soft">Messages keep their ids, so your server recognises those that it has.</p>
        <TimeField
          label="Events from"
          note="In your time zone; empty: from the first that is kept."
          value={since}
          onValue={change(setSince)}
        />
        <TimeField label="Events before" note="Empty: until now." value={until} onValue={change(setUntil)} />
        <label className="webhook-choice">
          <input type="checkbox" checked={delivered} onChange={({ target }) => change(setDelivered)(target.checked)} />
          Also those that were delivered
        </label>
        {replay.isError && <ErrorNote error={replay.error} title="Nothing was sent again" />}
      </form>
    </Modal>
  );
}

interface TimeFieldProps {
  label: string;
  note: string;
  value: string;
  onValue: (value: string) => void;
}

function TimeField({ label, note, value, onValue }: TimeFieldProps): ReactNode {
  return (
    <Field label={label} note={note}>
      {(ids) => (
        <input
          {...ids}
          className="input"
          type="datetime-local"
          value={value}
          onChange={(event) => onValue(event.target.value)}
        />
      )}
    </Field>
  );
}

/** An end of the span in UTC; nothing where it is open. */
function span(end: 'since' | 'until', local: string): { since?: string; until?: string } {
  return local === '' ? {} : { [end]: new Date(local).toISOString() };
}

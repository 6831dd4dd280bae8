import type { ReactNode } from 'react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Button } from '../../../src/ui/controls/button';
import { Modal } from '../../../src/ui/controls/modal';
import { ErrorNote } from '../../../src/ui/display/error-note';
import { notify } from '../../../src/ui/display/notices';

interface ConfirmProps {
  title: string;
  /** What it does, in a sentence. */
  children: ReactNode;
  /** The act, as its button says it. */
  label: string;
  /** Said when it is done. */
  done: string;
  kind?: 'primary' | 'danger';
  act: () => Promise<unknown>;
  onClose: () => void;
}

/** Asks once, says what the act does, and shows why it was refused and what to do about it. All screens are read again then. */
export function Confirm({ title, children, label, done, kind = 'danger', act, onClose }: ConfirmProps): ReactNode {
  const client = useQueryClient();
  const acting = useMutation({
    mutationFn: act,
    onSuccess: () => {
      notify(done);
      onClose();
    },
    onSettled: () => client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' }),
  });
  return (
    <Modal
      title={title}
      open
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Do nothing</Button>
          <Button kind={kind} busy={acting.isPending} onClick={() => acting.mutate()}>
            {label}
          </Button>
        </>
      }
    >
      <p className="soft">{children}</p>
      {acting.isError && <ErrorNote error={acting.error} title="It was refused" />}
    </Modal>
  );
}

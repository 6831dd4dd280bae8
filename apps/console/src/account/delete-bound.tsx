import type { ReactNode } from 'react';
import { useMutation } from '@tanstack/react-query';
import { Button } from '../ui/controls/button';
import { Modal } from '../ui/controls/modal';
import { ErrorNote } from '../ui/display/error-note';
import { notify } from '../ui/display/notices';

interface DeleteBoundProps {
  kind: 'cap' | 'limit';
  /** Of what it is. */
  name: string;
  /** What follows from it, in a sentence. */
  children: ReactNode;
  act: () => Promise<void>;
  /** Reads what is left. */
  refresh: () => Promise<void>;
  onClose: () => void;
}

/** Deletes what bounds how much jobs may cost, after asking. */
export function DeleteBound({ kind, name, children, act, refresh, onClose }: DeleteBoundProps): ReactNode {
  const remove = useMutation({
    mutationFn: act,
    onSuccess: () => {
      notify(`The ${kind} of ${name} is deleted`);
      onClose();
    },
    onSettled: refresh,
  });
  return (
    <Modal
      title={`Delete the ${kind} of ${name}?`}
      open
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Keep it</Button>
          <Button kind="danger" busy={remove.isPending} onClick={() => remove.mutate()}>
            Delete the {kind}
          </Button>
        </>
      }
    >
      <p className="soft">{children}</p>
      {remove.isError && <ErrorNote error={remove.error} title={`The ${kind} was not deleted`} />}
    </Modal>
  );
}

import type { ReactNode } from 'react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { deleteModel, pathOf, type LibraryModel } from '../api/models';
import { Button } from '../ui/controls/button';
import { Modal } from '../ui/controls/modal';
import { ErrorNote } from '../ui/display/error-note';
import { notify } from '../ui/display/notices';

/** Deletes a model, after asking. One that is in use stays, and the answer says so. */
export function DeleteModel({ model, onClose }: { model: LibraryModel; onClose: () => void }): ReactNode {
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: () => deleteModel(model.id),
    onSuccess: () => {
      notify(`“${pathOf(model)}” is deleted`);
      onClose();
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['models'] }),
  });
  return (
    <Modal
      title="Delete this model?"
      open
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Keep it</Button>
          <Button kind="danger" busy={remove.isPending} onClick={() => remove.mutate()}>
            Delete the model
          </Button>
        </>
      }
    >
      <p className="soft model-file">
        <span className="mono">{pathOf(model)}</span> goes with its bytes. Graphs that name it are refused from then on.
      </p>
      {remove.isError && <ErrorNote error={remove.error} />}
    </Modal>
  );
}

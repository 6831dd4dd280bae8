import type { ReactNode } from 'react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Asset } from '@millrace/contracts';
import { deleteAsset } from '../api/assets';
import { Button } from '../ui/controls/button';
import { Modal } from '../ui/controls/modal';
import { ErrorNote } from '../ui/display/error-note';
import { notify } from '../ui/display/notices';
import { nameOf } from './asset-name';

interface DeleteAssetProps {
  asset: Asset;
  onDeleted: () => void;
  onClose: () => void;
}

/** Deletes an upload, after asking. One that a job refers to stays, and the answer says so. */
export function DeleteAsset({ asset, onDeleted, onClose }: DeleteAssetProps): ReactNode {
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: () => deleteAsset(asset.id),
    onSuccess: () => {
      notify(`“${nameOf(asset)}” is deleted`);
      onDeleted();
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['assets'] }),
  });
  return (
    <Modal
      title={`Delete “${nameOf(asset)}”?`}
      open
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Keep it</Button>
          <Button kind="danger" busy={remove.isPending} onClick={() => remove.mutate()}>
            Delete the upload
          </Button>
        </>
      }
    >
      <p className="soft">Graphs that name this asset cannot be submitted any more. It cannot be brought back.</p>
      {remove.isError && <ErrorNote error={remove.error} />}
    </Modal>
  );
}

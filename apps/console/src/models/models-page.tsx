import { useState, type ReactNode } from 'react';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { modelListQuery, pathOf, type LibraryModel } from '../api/models';
import { uploadModel, type ModelFields } from '../api/upload/upload-model';
import { Page } from '../shell/page';
import { useSession } from '../shell/session-context';
import { Button } from '../ui/controls/button';
import { Icon } from '../ui/controls/icon';
import { Empty } from '../ui/display/empty';
import { ErrorNote } from '../ui/display/error-note';
import { Skeleton } from '../ui/display/skeleton';
import { UploadButton } from '../ui/uploads/upload-button';
import { UploadList } from '../ui/uploads/upload-list';
import { useUploadQueue } from '../ui/uploads/use-upload-queue';
import { DeleteModel } from './delete-model';
import { ImportModel } from './import-model';
import { ModelTable } from './model-table';
import { NewUpload } from './new-upload';
import './models.css';

type Dialog = { kind: 'import' } | { kind: 'upload'; file: File } | { kind: 'delete'; model: LibraryModel };

/** The files of weights that the account's graphs may name. */
export function ModelsPage(): ReactNode {
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const mayWrite = useSession().may('assets:write');
  const client = useQueryClient();
  const list = useInfiniteQuery(modelListQuery);
  const models = list.data?.pages.flatMap((page) => page.models) ?? [];
  const { uploads, add, clear } = useUploadQueue();
  const close = (): void => setDialog(null);
  const upload = (fields: ModelFields, file: File): void => {
    close();
    const readAgain = (): Promise<void> => client.invalidateQueries({ queryKey: ['models'] });
    add(pathOf(fields), async (onProgress) => {
      let begun = false;
      const progress: typeof onProgress = (one) => {
        if (!begun) void readAgain();
        begun = true;
        onProgress(one);
      };
      await uploadModel(fields, file, progress).finally(readAgain);
      return 'stored';
    });
  };
  const actions = (
    <>
      <Button icon={<Icon name="download" />} onClick={() => setDialog({ kind: 'import' })}>
        Import
      </Button>
      <UploadButton
        kind="primary"
        label="Model to upload"
        onFiles={([file]) => file !== undefined && setDialog({ kind: 'upload', file })}
      >
        Upload
      </UploadButton>
    </>
  );
  return (
    <Page title="Models" actions={mayWrite ? actions : undefined}>
      <UploadList uploads={uploads} onClear={clear} />
      {list.isError && <ErrorNote error={list.error} onRetry={() => list.refetch()} />}
      {list.isPending && <Skeleton lines={4} />}
      {list.isSuccess && models.length === 0 && <NoModels mayWrite={mayWrite} />}
      {models.length > 0 && (
        <ModelTable models={models} {...(mayWrite && { onDelete: (model) => setDialog({ kind: 'delete', model }) })} />
      )}
      {list.hasNextPage && (
        <Button busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          Show more
        </Button>
      )}
      {dialog?.kind === 'import' && <ImportModel onClose={close} />}
      {dialog?.kind === 'upload' && (
        <NewUpload file={dialog.file} onSubmit={(fields) => upload(fields, dialog.file)} onClose={close} />
      )}
      {dialog?.kind === 'delete' && <DeleteModel model={dialog.model} onClose={close} />}
    </Page>
  );
}

function NoModels({ mayWrite }: { mayWrite: boolean }): ReactNode {
  return (
    <Empty icon="models" title="No models yet">
      <p>
        Upload the weights that your graphs name, or have them fetched from where they are published. A loader node
        finds them by folder and name:{' '}
        <Link to="/docs/$" params={{ _splat: 'models' }}>
          how the model library works
        </Link>
        .
      </p>
      {!mayWrite && <p>This session may not add one: its key needs the scope assets:write.</p>}
    </Empty>
  );
}

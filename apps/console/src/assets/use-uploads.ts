import { useQueryClient } from '@tanstack/react-query';
import { uploadAsset } from '../api/upload/upload-asset';
import { useUploadQueue, type Upload } from '../ui/uploads/use-upload-queue';

interface Uploads {
  uploads: readonly Upload[];
  add: (files: readonly File[]) => void;
  clear: () => void;
}

/** Uploads of assets. Lists of assets are read again after each. */
export function useUploads(): Uploads {
  const client = useQueryClient();
  const { uploads, add, clear } = useUploadQueue();
  const addFiles = (files: readonly File[]): void => {
    for (const file of files) {
      add(file.name, async (onProgress) => {
        const { known } = await uploadAsset(undefined, file, onProgress);
        await client.invalidateQueries({ queryKey: ['assets'] });
        return known ? 'known' : 'stored';
      });
    }
  };
  return { uploads, add: addFiles, clear };
}

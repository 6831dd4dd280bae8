import { useRef, useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import type { Asset } from '@millrace/contracts';
import { asApiError } from '../api/api-error';
import { uploadAsset } from '../api/upload/upload-asset';
import type { UploadProgress } from '../api/upload/upload-progress';

export type UploadState =
  | { step: 'waiting' }
  | UploadProgress
  /** `known`: the account had the bytes. */
  | { step: 'stored' | 'known'; asset: Asset }
  | { step: 'failed'; message: string };

export interface Upload {
  id: number;
  name: string;
  state: UploadState;
}

interface Uploads {
  uploads: readonly Upload[];
  /** Upload files, one after the other. */
  add: (files: readonly File[]) => void;
  /** Forget those that are over. */
  clear: () => void;
}

/** Uploads of a page and how they go. Lists of assets are read again after each. */
export function useUploads(deployment?: string): Uploads {
  const client = useQueryClient();
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const turn = useRef(Promise.resolve());
  const nextId = useRef(0);
  const change = (id: number, state: UploadState): void =>
    setUploads((all) => all.map((upload) => (upload.id === id ? { ...upload, state } : upload)));
  const run = async (id: number, file: File): Promise<void> => {
    try {
      const { asset, known } = await uploadAsset(deployment, file, (progress) => change(id, progress));
      change(id, { step: known ? 'known' : 'stored', asset });
      await client.invalidateQueries({ queryKey: ['assets'] });
    } catch (error) {
      change(id, { step: 'failed', message: asApiError(error).message });
    }
  };
  const add = (files: readonly File[]): void => {
    for (const file of files) {
      const id = nextId.current++;
      setUploads((all) => [...all, { id, name: file.name, state: { step: 'waiting' } }]);
      turn.current = turn.current.then(() => run(id, file));
    }
  };
  return { uploads, add, clear: () => setUploads((all) => all.filter(({ state }) => !isOver(state))) };
}

/** Whether an upload has ended, one way or the other. */
export function isOver({ step }: UploadState): boolean {
  return step === 'stored' || step === 'known' || step === 'failed';
}

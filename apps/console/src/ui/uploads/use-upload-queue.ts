import { useRef, useState } from 'react';
import { asApiError } from '../../api/api-error';
import type { UploadProgress } from '../../api/upload/upload-progress';

/** `known`: the account had the bytes. */
type UploadEnd = 'stored' | 'known';

export type UploadState =
  { step: 'waiting' } | UploadProgress | { step: UploadEnd } | { step: 'failed'; message: string };

export interface Upload {
  id: number;
  name: string;
  state: UploadState;
}

type UploadWork = (onProgress: (progress: UploadProgress) => void) => Promise<UploadEnd>;

interface UploadQueue {
  uploads: readonly Upload[];
  /** Upload something after all that was added before. */
  add: (name: string, work: UploadWork) => void;
  /** Forget those that are over. */
  clear: () => void;
}

/** Uploads of a page, one after the other, and how they go. */
export function useUploadQueue(): UploadQueue {
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const turn = useRef(Promise.resolve());
  const nextId = useRef(0);
  const change = (id: number, state: UploadState): void =>
    setUploads((all) => all.map((upload) => (upload.id === id ? { ...upload, state } : upload)));
  const run = async (id: number, work: UploadWork): Promise<void> => {
    try {
      change(id, { step: await work((progress) => change(id, progress)) });
    } catch (error) {
      change(id, { step: 'failed', message: asApiError(error).message });
    }
  };
  const add = (name: string, work: UploadWork): void => {
    const id = nextId.current++;
    setUploads((all) => [...all, { id, name, state: { step: 'waiting' } }]);
    turn.current = turn.current.then(() => run(id, work));
  };
  return { uploads, add, clear: () => setUploads((all) => all.filter(({ state }) => !isOver(state))) };
}

/** Whether an upload has ended, one way or the other. */
export function isOver({ step }: UploadState): boolean {
  return step === 'stored' || step === 'known' || step === 'failed';
}

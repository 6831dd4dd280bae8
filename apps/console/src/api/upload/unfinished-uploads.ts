/** Where unfinished uploads are kept: what this needs of a browser's storage. */
interface UploadStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
}

const KEY = 'millrace.unfinished-uploads';
const MOST = 20;

/** The id of the upload in parts that was begun in this browser for a file; null where there is none. @param file names its bytes. */
export function unfinishedUpload(file: string, storage: UploadStorage): string | null {
  return read(storage).find(([known]) => known === file)?.[1] ?? null;
}

/** Keep which upload a file belongs to, so that it goes on where it stopped when the file is chosen again. */
export function keepUpload(file: string, id: string, storage: UploadStorage): void {
  write([[file, id], ...read(storage).filter(([known]) => known !== file)].slice(0, MOST), storage);
}

export function forgetUpload(file: string, storage: UploadStorage): void {
  write(
    read(storage).filter(([known]) => known !== file),
    storage,
  );
}

/** Name of the bytes and id of each, the latest first; none where what is stored is no list of them. */
function read(storage: UploadStorage): string[][] {
  try {
    const stored: unknown = JSON.parse(storage.getItem(KEY) ?? '[]');
    if (!Array.isArray(stored)) return [];
    return stored.filter(
      (pair): pair is string[] => Array.isArray(pair) && pair.every((text) => typeof text === 'string'),
    );
  } catch {
    return [];
  }
}

function write(uploads: string[][], storage: UploadStorage): void {
  try {
    storage.setItem(KEY, JSON.stringify(uploads));
  } catch {
    // A full storage: the upload itself goes on, and is only not found again.
  }
}

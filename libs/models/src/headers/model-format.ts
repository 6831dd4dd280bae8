import { readGguf } from './gguf';
import { HeaderError, type ModelHeader, type ReadBytes } from './model-header';
import { readSafetensors } from './safetensors';

export const MODEL_FORMATS = ['safetensors', 'gguf', 'pickle'] as const;
/** How weights are written. A pickle is a program: to load it is to run it. */
export type ModelFormat = (typeof MODEL_FORMATS)[number];

/**
 * By the ending of the name, by which engines choose how they load a file. No other endings are taken: ComfyUI would load such a
 * file as a pickle.
 */
const ENDINGS: Readonly<Record<string, ModelFormat>> = {
  safetensors: 'safetensors',
  sft: 'safetensors',
  gguf: 'gguf',
  ckpt: 'pickle',
  pt: 'pickle',
  pth: 'pickle',
  bin: 'pickle',
};

/** @returns null for a file that is of no format of weights. */
export function formatOf(name: string): ModelFormat | null {
  const ending = /\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(ENDINGS, ending) ? (ENDINGS[ending] ?? null) : null;
}

/** @returns null for a pickle, which says nothing of itself without being run. @throws HeaderError; what `read` rejects with. */
export async function readHeader(format: ModelFormat, read: ReadBytes, sizeBytes: number): Promise<ModelHeader | null> {
  if (format === 'pickle') return null;
  const header = await (format === 'gguf' ? readGguf(read, sizeBytes) : readSafetensors(read, sizeBytes));
  if (!Number.isSafeInteger(header.parameters)) throw new HeaderError('has more numbers than can be counted');
  return header;
}

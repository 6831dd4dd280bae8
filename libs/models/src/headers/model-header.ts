/** What loader nodes do with a file, as far as its header says. */
export const MODEL_KINDS = [
  'checkpoint',
  'diffusion_model',
  'lora',
  'vae',
  'text_encoder',
  'clip_vision',
  'controlnet',
  'embedding',
] as const;
export type ModelKind = (typeof MODEL_KINDS)[number];

/** What the header of a file of weights says. */
export interface ModelHeader {
  /** Null where its tensors are of no known kind. */
  kind: ModelKind | null;
  /** As the file names it, e.g. `stable-diffusion-xl-v1-base` or `flux`; null where it does not. */
  architecture: string | null;
  /** Numbers in all its tensors. */
  parameters: number;
}

/** A file is not what its name says, or is damaged. The message is the rest of a sentence that begins with the file. */
export class HeaderError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'HeaderError';
  }
}

/** Reads the bytes from `start` to `end` (exclusive), inside the file. */
export type ReadBytes = (start: number, end: number) => Promise<Buffer>;

/** Longer headers are refused: a header is read into memory. Those of the largest known models take 2 MiB. */
export const HEADER_BYTES = 16_777_216;
/** More tensors than any known model has, by far. */
export const MOST_TENSORS = 200_000;

const ARCHITECTURE_CHARACTERS = 100;

/** @returns the text as one line that can be shown; null for anything else. */
export function architectureOf(text: unknown): string | null {
  if (typeof text !== 'string' || text === '') return null;
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '\ufffd').slice(0, ARCHITECTURE_CHARACTERS);
}

/** @throws HeaderError when a model has more numbers than can be counted. */
export function numbersIn(shape: readonly number[]): number {
  const numbers = shape.reduce((product, size) => product * size, 1);
  if (!Number.isSafeInteger(numbers)) throw new HeaderError('has a tensor of impossible size');
  return numbers;
}

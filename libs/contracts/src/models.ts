/** What a model of the library is called. */
export interface ModelName {
  /** ComfyUI's folder: `checkpoints`, `loras`, … */
  folder: string;
  /** Path below the folder, as loader nodes name it: `sdxl/base.safetensors`. */
  name: string;
}

/** A file of the model library, as a worker fetches it. */
export interface ModelFile extends ModelName {
  /** blake3 of the content, 64 lower-case hexadecimal digits. */
  digest: string;
  sizeBytes: number;
}

/** What a worker reads models from. */
export interface ModelSource {
  /**
   * The files that an account's graph means by these names, its own before shared ones. One name in two folders gives two
   * files. Names that the library lacks are left out. A signal that aborts may end it with an error.
   */
  find(accountId: string, names: readonly string[], signal?: AbortSignal): Promise<ModelFile[]>;

  /**
   * Bytes `start` to `end` (exclusive) of a content that is among the account's own or the shared models. Rejects where it cannot be
   * read; an abort ends the stream with an error.
   */
  open(
    file: Pick<ModelFile, 'digest'> & { accountId: string },
    range: { start: number; end: number },
    signal: AbortSignal,
  ): Promise<AsyncIterable<Uint8Array>>;
}

import type { Statements } from '@millrace/database';
import type { ModelFormat } from '../headers';

export const MODEL_STATES = ['uploading', 'importing', 'ready', 'failed'] as const;
export type ModelState = (typeof MODEL_STATES)[number];

/** A file of weights in the library of an account. */
export interface Model {
  id: string;
  accountId: string;
  /** ComfyUI's folder: `checkpoints`, `loras`, … */
  folder: string;
  /** Path below the folder, as loader nodes name it. */
  name: string;
  /** Every account may use it. */
  shared: boolean;
  state: ModelState;
  /** Why it failed; null unless it has. */
  problem: string | null;
  format: ModelFormat;
  /** One of MODEL_KINDS; null until the header was read, or where it is of none. */
  kind: string | null;
  architecture: string | null;
  /** Numbers in all its tensors. */
  parameters: number | null;
  /** Null while an import has not asked. */
  sizeBytes: number | null;
  /** Of an import: bytes that have arrived. */
  receivedBytes: number;
  /** blake3 of the content, 64 hexadecimal digits; null until it is ready. */
  digest: string | null;
  /** `blake3:<hex>` or `sha256:<hex>`, which the content must have; null where nobody said. */
  expectedHash: string | null;
  licence: string | null;
  sourceUrl: string | null;
  /** Where its bytes arrive. */
  uploadId: string | null;
  /** Its bytes. */
  assetId: string | null;
  createdAt: Date;
  lastUsedAt: Date | null;
}

/** What is said of a model before its bytes are there. */
export interface ModelDraft extends Pick<Model, 'folder' | 'name' | 'licence' | 'sourceUrl' | 'expectedHash'> {
  accountId: string;
}

/** Does the writes of an act on a model in one transaction, with what the caller records of it. */
export type Transact = (act: (tx: Statements) => Promise<Model>) => Promise<Model>;

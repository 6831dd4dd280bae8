import { type Refusal, type ErrorCode, type RefusalOptions } from '@millrace/contracts';
import type { ExaminedJob } from './examine-submission.step';

/** A submission to examine in another thread. */
export interface ExaminationTask {
  body: Uint8Array;
  /** Null: only the body is read, because nothing takes jobs there. */
  catalogue: SharedCatalogue | null;
}

/** A catalogue as JSON in memory that all threads share. */
export interface SharedCatalogue {
  /** Names the catalogue in this process. */
  id: number;
  json: SharedArrayBuffer;
}

/** What came of it. A refusal crosses threads as what it is made of. */
export type ExaminationResult =
  | { kind: 'examined'; job: ExaminedJob }
  | { kind: 'read' }
  | { kind: 'refused'; code: ErrorCode; message: string; options: RefusalOptions };

export function refusedResult({ code, message, details, status }: Refusal): ExaminationResult {
  const options = { details, ...(code === 'invalid_request' ? { status: status as RefusalOptions['status'] } : {}) };
  return { kind: 'refused', code, message, options: options };
}

import type { BatchAdmission, ErrorCode, Refusal, RefusalOptions, RunLimits } from '@millrace/contracts';
import type { GraphTemplate } from '@millrace/workflow';
import type { UndecidedSlice } from './examine-batch.step';
import type { ExaminedJob } from './examine-submission.step';
import type { FaultyGraph } from './faulty-graph';
import type { ListedPlaces } from './read-batch.step';

/** What another thread is to do. */
interface Task {
  /** Set to the time at which it began, by `process.hrtime`, in memory that threads share: one that is ended says nothing any more. */
  began: BigInt64Array;
}

/** A submission to examine in another thread. */
export interface ExaminationTask extends Task {
  body: Uint8Array;
  /** Null: only the body is read, because nothing takes jobs there. */
  catalogue: SharedCatalogue | null;
  /** The submission may be answered with earlier outputs. */
  forReuse: boolean;
}

/** A catalogue as JSON in memory that all threads share. */
export interface SharedCatalogue {
  /** Names the catalogue in this process. */
  id: number;
  json: SharedArrayBuffer;
  /** What its engine runs at once; null where that is all that a submission may be. */
  limits: RunLimits | null;
}

/** Jobs of a batch to examine in another thread. */
export interface SliceTask extends Task {
  body: SharedArrayBuffer;
  catalogue: SharedCatalogue;
  /** The first of them. */
  from: number;
  /** What the first slice said of it. */
  places: ListedPlaces | null;
}

/** What the first slice of a batch brings beside its jobs. */
export interface BatchOutline {
  admission: BatchAdmission;
  count: number;
  template: GraphTemplate | null;
  places: ListedPlaces | null;
}

export type SliceResult =
  | { kind: 'slice'; slice: UndecidedSlice; outline: BatchOutline | null }
  | Extract<ExaminationResult, { kind: 'refused' }>;

/** What came of it. A refusal crosses threads as what it is made of. */
export type ExaminationResult =
  | { kind: 'examined'; job: ExaminedJob }
  | { kind: 'faulty'; graph: FaultyGraph }
  | { kind: 'read' }
  | { kind: 'refused'; code: ErrorCode; message: string; options: RefusalOptions };

export function refusedResult({
  code,
  message,
  details,
  status,
}: Refusal): Extract<ExaminationResult, { kind: 'refused' }> {
  const options = { details, ...(code === 'invalid_request' ? { status: status as RefusalOptions['status'] } : {}) };
  return { kind: 'refused', code, message, options: options };
}

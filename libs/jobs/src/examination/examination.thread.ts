import { constants, setPriority } from 'node:os';
import { Refusal, type NodeCatalogue } from '@millrace/contracts';
import { limitRuns } from '@millrace/workflow';
import {
  refusedResult,
  type ExaminationResult,
  type ExaminationTask,
  type SharedCatalogue,
  type SliceResult,
  type SliceTask,
} from './examination';
import { examineSlice } from './examine-batch.step';
import { examineSubmission } from './examine-submission.step';
import { isFaulty } from './faulty-graph';
import { listedJobs, readBatch } from './read-batch.step';
import { readSubmission } from './read-submission.step';

/** Catalogues that a thread keeps, parsed: those of the pools in use. */
const CACHED_CATALOGUES = 4;
/**
 * Bytes of their texts. A larger one is read again for each body: kept, some of them would leave no memory for the bodies of others. Those of
 * thousands of classes have 2 MiB.
 */
const CACHED_BYTES = 8 * 1_024 * 1_024;
/** How long jobs of a batch keep the thread from others; a graph of thousands of nodes takes 100 ms. */
const SLICE_MS = 200;
/** The latest last. */
const parsed = new Map<number, { catalogue: NodeCatalogue; bytes: number }>();

// Of this thread alone: where cores are few, it leaves them to the event loop, which serves all others.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

/** What a thread of `SubmissionExaminer` runs. */
export function examineInThread({ body, catalogue, forReuse, began }: ExaminationTask): ExaminationResult {
  Atomics.store(began, 0, process.hrtime.bigint());
  try {
    const requested = readSubmission(body);
    if (catalogue === null) return { kind: 'read' };
    const job = examineSubmission(requested, catalogueOf(catalogue), forReuse);
    return isFaulty(job) ? { kind: 'faulty', graph: job } : { kind: 'examined', job };
  } catch (error) {
    if (error instanceof Refusal) return refusedResult(error);
    throw error;
  }
}

/** Some jobs of a batch. A thread keeps nothing: a table is read again for each slice, of listed jobs those that it takes. */
export function examineSliceInThread({ body, catalogue, from, places: known, began }: SliceTask): SliceResult {
  Atomics.store(began, 0, process.hrtime.bigint());
  try {
    const bytes = new Uint8Array(body);
    if (known !== null) {
      const slice = examineSlice(listedJobs(bytes, known), catalogueOf(catalogue), from, SLICE_MS);
      return { kind: 'slice', slice, outline: null };
    }
    const requested = readBatch(bytes);
    const slice = examineSlice(requested, catalogueOf(catalogue), from, SLICE_MS);
    const { admission, count, template, places } = requested;
    const outline = from === 0 ? { admission, count, template, places } : null;
    return { kind: 'slice', slice, outline };
  } catch (error) {
    if (error instanceof Refusal) return refusedResult(error);
    throw error;
  }
}

function catalogueOf({ id, json, limits }: SharedCatalogue): NodeCatalogue {
  const known = parsed.get(id);
  parsed.delete(id);
  const bytes = json.byteLength;
  // Before another is parsed: there is memory for one that is large, or for those that are kept.
  if (known === undefined) makeRoom(bytes);
  const catalogue = known?.catalogue ?? (JSON.parse(Buffer.from(json).toString()) as NodeCatalogue);
  limitRuns(catalogue, limits);
  if (bytes <= CACHED_BYTES) parsed.set(id, { catalogue, bytes });
  return catalogue;
}

function makeRoom(bytes: number): void {
  let kept = bytes;
  for (const one of parsed.values()) kept += one.bytes;
  for (const [id, one] of parsed) {
    if (parsed.size < CACHED_CATALOGUES && kept <= CACHED_BYTES) return;
    parsed.delete(id);
    kept -= one.bytes;
  }
}

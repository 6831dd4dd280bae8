import { constants, setPriority } from 'node:os';
import { Refusal, type NodeCatalogue } from '@millrace/contracts';
import { refusedResult, type ExaminationResult, type ExaminationTask, type SharedCatalogue } from './examination';
import { examineSubmission } from './examine-submission.step';
import { readSubmission } from './read-submission.step';

/** Parsed catalogues that a thread keeps, the latest last: those of the pools in use. */
const CACHED_CATALOGUES = 4;
const parsed = new Map<number, NodeCatalogue>();

// Of this thread alone: where cores are few, it leaves them to the event loop, which serves all others.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

/** What a thread of `SubmissionExaminer` runs. */
export function examineInThread({ body, catalogue }: ExaminationTask): ExaminationResult {
  try {
    const requested = readSubmission(body);
    if (catalogue === null) return { kind: 'read' };
    return { kind: 'examined', job: examineSubmission(requested, catalogueOf(catalogue)) };
  } catch (error) {
    if (error instanceof Refusal) return refusedResult(error);
    throw error;
  }
}

function catalogueOf({ id, json }: SharedCatalogue): NodeCatalogue {
  const catalogue = parsed.get(id) ?? (JSON.parse(Buffer.from(json).toString()) as NodeCatalogue);
  parsed.delete(id);
  parsed.set(id, catalogue);
  const [oldest] = parsed.keys();
  if (parsed.size > CACHED_CATALOGUES && oldest !== undefined) parsed.delete(oldest);
  return catalogue;
}

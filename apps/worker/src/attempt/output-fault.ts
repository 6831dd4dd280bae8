import { BlobStoreError } from '@millrace/assets';
import { Refusal } from '@millrace/contracts';
import { isTransient } from '@millrace/database';
import { OutputRefused } from '@millrace/jobs';
import { OutOfReach } from './out-of-reach';
import { storeReasonOf } from './store-reason';

/** Why an output could not be kept. `reason` is a part of a sentence, for the job's owner. */
export type OutputFault =
  /** What the service stands on failed. */
  | { status: 'failed'; reason: string }
  /** This worker does not reach where outputs are kept. */
  | { status: 'out_of_reach'; reason: string }
  /** Nothing can keep the output as the graph made it, however often it is tried. */
  | { status: 'refused'; reason: string };

/** Errors of the worker's own machine when it reads the file of an output. */
const MACHINE_CODES = new Set(['EIO', 'EMFILE', 'ENFILE', 'ENOMEM', 'ENOSPC', 'ESTALE']);

/**
 * Whose fault it is that an output could not be kept, which decides what the job is charged: ours where the blob store, the
 * database or this machine failed, and the graph's everywhere else. An error that nobody foresaw is therefore the graph's:
 * a graph that finds one would compute for nothing.
 */
export function outputFaultOf(error: unknown): OutputFault {
  if (error instanceof OutputRefused) return { status: 'refused', reason: error.message };
  if (error instanceof Refusal) return faultOfRefusal(error);
  if (error instanceof BlobStoreError) {
    const isGraphs = error.fault === 'too_large';
    return { status: isGraphs ? 'refused' : 'failed', reason: storeReasonOf(error) };
  }
  if (error instanceof OutOfReach) {
    return { status: 'out_of_reach', reason: 'its worker does not reach where outputs are kept' };
  }
  if (isTransient(error)) return { status: 'failed', reason: 'it could not be recorded' };
  if (MACHINE_CODES.has(String((error as NodeJS.ErrnoException | null)?.code))) {
    return { status: 'failed', reason: 'its file could not be read' };
  }
  return { status: 'refused', reason: 'it could not be recorded; give its file a plain and short name' };
}

/** Whether the bytes that the gateway has are not those that were sent: sent again, they may arrive as they are. */
export function isAltered(error: unknown): boolean {
  return error instanceof Refusal && error.code === 'hash_mismatch';
}

/** Of all that a gateway refuses, the size alone is the graph's doing: names are cut here, and the rest is what arrives, and between two versions. */
function faultOfRefusal(refusal: Refusal): OutputFault {
  if (refusal.code === 'payload_too_large') {
    return { status: 'refused', reason: `${lowerFirst(refusal.message)} Make it smaller` };
  }
  if (isAltered(refusal)) return { status: 'failed', reason: 'its bytes were altered on the way to the blob store' };
  return { status: 'failed', reason: 'the gateway did not take it' };
}

function lowerFirst(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}

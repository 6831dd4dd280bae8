import { createHash } from 'node:crypto';
import type { NodeCatalogue } from '@millrace/contracts';
import {
  exactGraph,
  mayLoadFromLibrary,
  undeclaredClasses,
  type ExactWork,
  type WorkflowGraph,
} from '@millrace/workflow';

/** Class names that a reason lists. */
const NAMED_CLASSES = 5;
/** Pieces that are hashed at once: a call for each costs more than the hash. */
const PIECES = 4_096;

/** @param hasCredentials what a run makes with them may be another thing each time, and they are not kept to be compared. */
export function exactWorkOf(graph: WorkflowGraph, catalogue: NodeCatalogue, hasCredentials: boolean): ExactWork {
  if (hasCredentials) return { reason: 'The submission has credentials (extra_data), and such jobs always run.' };
  const undeclared = undeclaredClasses(graph, catalogue);
  if (undeclared.length > 0) return { reason: undeclaredReason(undeclared) };
  if (mayLoadFromLibrary(graph, catalogue)) return { reason: LIBRARY_MODELS };
  const { text, assetIds } = exactGraph(graph, catalogue);
  const hash = createHash('sha256');
  for (let from = 0; from < text.length; from += PIECES) hash.update(text.slice(from, from + PIECES).join(''));
  return { digest: hash.digest('hex'), assetIds };
}

const LIBRARY_MODELS = 'It names models that a library may hold, where the same name can come to mean another file.';

function undeclaredReason(names: readonly string[]): string {
  const more = names.length > NAMED_CLASSES ? `, and ${names.length - NAMED_CLASSES} more` : '';
  return `Not declared to be deterministic: ${names.slice(0, NAMED_CLASSES).join(', ')}${more}.`;
}

import { createHash } from 'node:crypto';
import { memberPieces } from '@millrace/workflow';

/** A graph as it is shown to who need not read it: by its SHA-256 and its number of nodes. */
export function graphDigest(graph: string): string;
export function graphDigest(graph: string | null): string | null;
export function graphDigest(graph: string | null): string | null {
  if (graph === null) return null;
  return `sha256:${createHash('sha256').update(graph).digest('hex')}, ${memberPieces(graph).size} nodes`;
}

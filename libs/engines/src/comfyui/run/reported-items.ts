import { baseName, type ServerFile, listOf, objectOf, textOf, type NodeOutput } from '../protocol';
import { containedPath, runFolder } from '../files';

/** One output that a node reported. */
export type ReportedItem =
  | { kind: 'file'; name: string; file: ServerFile }
  | { kind: 'text'; text: string }
  /** Reported, and not this run's to hand out. */
  | { kind: 'foreign'; name: string };

/** Kinds under which nodes report values of any type, to be shown as text. */
const TEXT_KINDS = /^(?:text|string|value|result)s?$/;

/**
 * The outputs in what a node reported, in its order, one after another: they may be millions. The kind says little (videos come as `images`, anything may come
 * from a node pack), so each item is taken for what it is: an object with a `filename` is a file, a string is text,
 * and what is neither (flags such as `animated`, camera positions) is no output.
 *
 * A file is the run's own when it lies in the run's folder, or in the temporary folder, where names are random
 * and known from this report alone.
 */
export function* reportedItems(output: NodeOutput, runId: string): Generator<ReportedItem> {
  for (const [kind, value] of Object.entries(output)) {
    for (const item of Array.isArray(value) ? listOf(value) : [value]) {
      if (Array.isArray(item)) {
        for (const inner of listOf(item)) if (typeof inner === 'string') yield textItem(inner);
        continue;
      }
      const read = readItem(kind, item, runId);
      if (read !== null) yield read;
    }
  }
}

function readItem(kind: string, item: unknown, runId: string): ReportedItem | null {
  const description = objectOf(item);
  if (description) return readFile(description, runId);
  if (typeof item === 'string') return (kind === 'result' ? fileByName(item, runId) : null) ?? textItem(item);
  const isShown = (typeof item === 'number' || typeof item === 'boolean') && TEXT_KINDS.test(kind);
  return isShown ? textItem(String(item)) : null;
}

function readFile(description: Record<string, unknown>, runId: string): ReportedItem | null {
  const filename = textOf(description['filename']);
  if (filename === null) return null;
  const type = textOf(description['type']) ?? 'output';
  // Loaders show what they loaded: no output of the run, wherever it lies, and the run's own inputs lie in its folder.
  if (type === 'input') return null;
  const path = containedPath(textOf(description['subfolder']) ?? '', filename);
  const isOwn = path !== null && (type === 'temp' || path.startsWith(`${runFolder(runId)}/`));
  if (isOwn && (type === 'output' || type === 'temp')) {
    return { kind: 'file', name: baseName(path), file: { type, path } };
  }
  return { kind: 'foreign', name: filename };
}

/** 3D previews report the plain path of a file in the output folder. */
function fileByName(name: string, runId: string): ReportedItem | null {
  const path = containedPath('', name);
  if (path === null || !path.startsWith(`${runFolder(runId)}/`)) return null;
  return { kind: 'file', name: baseName(path), file: { type: 'output', path } };
}

function textItem(text: string): ReportedItem {
  return { kind: 'text', text };
}

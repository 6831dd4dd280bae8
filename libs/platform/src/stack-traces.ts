import { existsSync, readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { dirname, resolve } from 'node:path';

/** As V8 prints it: its function, and where that is. */
interface Frame extends NodeJS.CallSite {
  toString(): string;
}

/**
 * Have the stack traces of this thread name the files and lines of the sources.
 *
 * A map is read when a trace first passes through its file, and may be given up when memory is collected. Node's own
 * `--enable-source-maps` reads every map when its file is loaded, and keeps it: of an idle worker 40 MiB.
 */
export function nameSourcesInTraces(): void {
  const maps = new Map<string, WeakRef<SourceMap> | null>();
  const mapOf = (file: string): SourceMap | undefined => {
    const known = maps.get(file);
    if (known === null) return undefined;
    const kept = known?.deref();
    if (kept !== undefined) return kept;
    const read = readMap(file);
    maps.set(file, read === undefined ? null : new WeakRef(read));
    return read;
  };
  Error.prepareStackTrace = (error, frames) =>
    [headOf(error), ...frames.map((frame) => `    at ${inSource(frame, mapOf)}`)].join('\n');
}

function readMap(file: string): SourceMap | undefined {
  const path = `${file}.map`;
  try {
    return existsSync(path) ? new SourceMap(JSON.parse(readFileSync(path, 'utf8')) as SourceMapPayload) : undefined;
  } catch {
    // A trace that names the built file is better than none.
    return undefined;
  }
}

function inSource(frame: Frame, mapOf: (file: string) => SourceMap | undefined): string {
  const [text, file, line, column] = [
    frame.toString(),
    frame.getFileName(),
    frame.getLineNumber(),
    frame.getColumnNumber(),
  ];
  if (!file?.startsWith('/') || line === null || column === null) return text;
  const origin = mapOf(file)?.findOrigin(line, column);
  if (origin === undefined || !('fileName' in origin)) return text;
  const source = resolve(dirname(file), origin.fileName);
  return text.replace(`${file}:${line}:${column}`, () => `${source}:${origin.lineNumber}:${origin.columnNumber}`);
}

function headOf(error: Error): string {
  try {
    return String(error);
  } catch {
    return 'an error that cannot be printed';
  }
}

import { createHash, type Hash } from 'node:crypto';
import { Readable, Transform } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { DayFile, DailyExports } from '../exports';
import type { FileFacts } from './delivery';
import type { ExportBucket, ObjectWriter } from './export-destination';

/** Where the files of a day go. */
export interface DayPlace {
  accountId: string;
  day: string;
  target: ExportBucket | null;
  /** What the names of all its files begin with. */
  prefix: string;
}

/** A day's files as they were written, or why they were not. */
export type WrittenDay = { error: string } | { error: null; usage: FileFacts; ledger: FileFacts };

/**
 * Write the files of a day: usage, ledger, and last what both add up to, so that who finds the last one finds all of them. The names say
 * the day and the books of a complete day never change, so a day that the same version writes again has the same bytes under the same names.
 *
 * @throws what reading the books throws.
 */
export async function writeDay(
  exports: Pick<DailyExports, 'file'>,
  writer: ObjectWriter,
  place: DayPlace,
  signal: AbortSignal,
): Promise<WrittenDay> {
  const written: Partial<Record<'usage' | 'ledger', FileFacts>> = {};
  for (const dataset of ['usage', 'ledger'] as const) {
    const file = await exports.file(place.accountId, place.day, dataset);
    const facts = await writeFile(writer, { ...place, name: nameOf(place, dataset) }, file, signal);
    if (typeof facts === 'string') return { error: facts };
    written[dataset] = facts;
  }
  const { usage, ledger } = written as Record<'usage' | 'ledger', FileFacts>;
  const bytes = Readable.from([Buffer.from(manifestOf(place, { usage, ledger }))]);
  const manifest = { name: `${place.prefix}manifest/${place.day}.json`, contentType: 'application/json', bytes };
  const error = await writer.write(place.target, manifest, signal);
  return error === null ? { error, usage, ledger } : { error };
}

/** Write something small that shows that files can be written. @returns null, or why it could not. */
export function writeTest(
  writer: ObjectWriter,
  { target, prefix }: Pick<DayPlace, 'target' | 'prefix'>,
  signal: AbortSignal,
): Promise<string | null> {
  const bytes = Readable.from([Buffer.from('Daily exports of Millrace are written here.\n')]);
  return writer.write(target, { name: `${prefix}test.txt`, contentType: 'text/plain; charset=utf-8', bytes }, signal);
}

const nameOf = ({ prefix, day }: DayPlace, dataset: string): string => `${prefix}${dataset}/${day}.csv.gz`;

async function writeFile(
  writer: ObjectWriter,
  { target, name }: Pick<DayPlace, 'target'> & { name: string },
  { parts, sums }: DayFile,
  signal: AbortSignal,
): Promise<FileFacts | string> {
  const hash = createHash('sha256');
  const text = Readable.from(parts, { objectMode: true, highWaterMark: 1 });
  const gzip = createGzip();
  const meter = new Meter(hash);
  // What fails ends the others: an error of the books reaches who reads the bytes.
  text.on('error', (error) => gzip.destroy(error));
  gzip.on('error', (error) => meter.destroy(error)).on('close', () => text.destroy());
  meter.on('close', () => gzip.destroy());
  const bytes = text.pipe(gzip).pipe(meter);
  const error = await writer.write(target, { name, contentType: 'application/gzip', bytes }, signal);
  bytes.destroy();
  if (error !== null) return error;
  return { rows: sums.rows, chargedMicros: sums.chargedMicros, sizeBytes: meter.sizeBytes, sha256: hash.digest() };
}

/** Counts and hashes what passes through. */
class Meter extends Transform {
  sizeBytes = 0;

  constructor(private readonly hash: Hash) {
    super();
  }

  override _transform(chunk: Buffer, _encoding: string, done: (error: null, chunk: Buffer) => void): void {
    this.sizeBytes += chunk.length;
    this.hash.update(chunk);
    done(null, chunk);
  }
}

function manifestOf(place: DayPlace, files: Record<'usage' | 'ledger', FileFacts>): string {
  const { accountId, day } = place;
  const listed = (['usage', 'ledger'] as const).map((dataset) => ({
    dataset,
    name: nameOf(place, dataset),
    rows: Number(files[dataset].rows),
    charged_micros: Number(files[dataset].chargedMicros),
    size_bytes: files[dataset].sizeBytes,
    sha256: files[dataset].sha256.toString('hex'),
  }));
  return `${JSON.stringify({ account_id: accountId, day, files: listed }, null, 2)}\n`;
}

import { isUtf8 } from 'node:buffer';
import {
  BATCH_ADMISSIONS,
  BATCH_COLUMNS,
  BATCH_JOBS,
  RESERVED_FIELDS,
  Refusal,
  beginningOf,
  type BatchAdmission,
  type FieldError,
} from '@millrace/contracts';
import {
  COMBINATIONS,
  JsonSyntaxError,
  columnsOf,
  graphOfRow,
  itemPieces,
  jsonFault,
  member,
  memberPieces,
  parseJson,
  rowAt,
  rowCount,
  templateOf,
  textOfRow,
  type Combination,
  type GraphTemplate,
  type JsonNode,
  type JsonPiece,
} from '@millrace/workflow';
import { SHOWN_NAME_LENGTH, requestedJob, type RequestedJob } from './read-submission.step';

/** What a client asks for with a batch. Each of its jobs is read when it is asked for. */
export interface RequestedBatch {
  admission: BatchAdmission;
  count: number;
  /** Around the values of a table; null where the jobs are listed. */
  template: GraphTemplate | null;
  /** Where each of listed jobs stands in the body; null where there is a table. */
  places: ListedPlaces | null;
  /** @throws Refusal of this one job, or status 400 where the text is no JSON. */
  readonly jobAt: (index: number) => RequestedBatchJob;
  /** Bytes of a job as it was written: of its graph where there is a table, else of what is listed. */
  readonly bytesAt: (index: number) => number;
}

/**
 * Where each of some jobs begins and ends in a body, in bytes, as pairs of unsigned integers of 32 bits. All threads share it: a body of many megabytes is delimited once,
 * however many slices it is examined in.
 */
export type ListedPlaces = SharedArrayBuffer;

export interface RequestedBatchJob extends RequestedJob {
  /** Its values in the template; null where the jobs are listed. */
  row: number[] | null;
}

/**
 * Read the body of a batch: `jobs`, each as a submission; or one submission with a `table` of values. Listed jobs are only delimited
 * here: each is parsed when it is examined, so that memory holds one of them.
 *
 * @param bytes JSON in UTF-8.
 * @throws Refusal `invalid_request`, and what one submission is refused with where there is one workflow.
 */
export function readBatch(bytes: Uint8Array): RequestedBatch {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!isUtf8(body)) throw new Refusal('invalid_request', 'The body is not valid UTF-8.', { status: 400 });
  const text = body.toString();
  const pieces = readJson(() => memberPieces(text));
  const faults = faultsOfFields(pieces);
  const admission = choice(text, pieces, 'admission', BATCH_ADMISSIONS, faults);
  const combination = choice(text, pieces, 'combine', COMBINATIONS, faults);
  const jobs = pieces.get('jobs');
  if (faults.length > 0) throw Refusal.ofFields(faults);
  if (jobs === undefined) return { admission, places: null, ...tabledJobs(text, combination) };
  const items = readJson(() => itemPieces(text, jobs));
  assertCount(items.length, 'jobs');
  return { admission, ...listedJobs(body, placesOf(text, items, body.length)) };
}

/** Fields that a batch cannot have, or cannot have together. */
function faultsOfFields(pieces: ReadonlyMap<string, JsonPiece>): FieldError[] {
  const faults: FieldError[] = RESERVED_FIELDS.filter((field) => pieces.has(field)).map((field) => ({
    field,
    reason: 'is reserved for a later version and cannot be sent',
  }));
  if (pieces.has('extra_data')) faults.push(NO_EXTRA_DATA);
  const beside = ['workflow', 'table', 'combine', 'metadata'].filter((field) => pieces.has(field));
  if (pieces.has('jobs')) {
    faults.push(...beside.map((field) => ({ field, reason: 'cannot be sent beside jobs: each of them has its own' })));
  } else if (!pieces.has('workflow') || !pieces.has('table')) {
    faults.push({ field: 'jobs', reason: 'is required: a list of submissions, or else a workflow and a table' });
  }
  return faults;
}

const NO_EXTRA_DATA: FieldError = {
  field: 'extra_data',
  reason: 'is not taken by batches: credentials are handed to single jobs',
};

/** One of some words; the first of them is the default. */
function choice<T extends string>(
  text: string,
  pieces: ReadonlyMap<string, JsonPiece>,
  field: string,
  choices: readonly [T, ...T[]],
  faults: FieldError[],
): T {
  const piece = pieces.get(field);
  if (piece === undefined) return choices[0];
  const written = text.slice(piece.start, piece.end);
  const chosen = choices.find((word) => written === JSON.stringify(word));
  if (chosen === undefined) faults.push({ field, reason: `must be one of ${choices.join(', ')}` });
  return chosen ?? choices[0];
}

/**
 * The jobs of a batch that were listed in a body, which `readBatch` has read before.
 *
 * @param bytes the same body.
 */
export function listedJobs(bytes: Uint8Array, places: ListedPlaces): Omit<RequestedBatch, 'admission'> {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const offsets = new Uint32Array(places);
  const placeAt = (index: number): [number, number] => [offsets[2 * index] ?? 0, offsets[2 * index + 1] ?? 0];
  return {
    count: offsets.length / 2,
    template: null,
    places,
    jobAt(index) {
      const item = body.subarray(...placeAt(index)).toString();
      const job = requestedJob(
        readJson(() => parseJson(item), `Item ${index} of jobs: `),
        item,
      );
      if (job.extraData !== null) throw Refusal.ofFields([NO_EXTRA_DATA]);
      return { ...job, row: null };
    },
    bytesAt(index) {
      const [start, end] = placeAt(index);
      return end - start;
    },
  };
}

/** @param size of the text in bytes. */
function placesOf(text: string, pieces: readonly JsonPiece[], size: number): ListedPlaces {
  const places = new SharedArrayBuffer(pieces.length * 2 * Uint32Array.BYTES_PER_ELEMENT);
  const offsets = new Uint32Array(places);
  // Characters of ASCII alone are a byte each.
  const isAscii = text.length === size;
  let [chars, bytes] = [0, 0];
  for (const [at, offset] of pieces.flatMap(({ start, end }) => [start, end]).entries()) {
    bytes += isAscii ? offset - chars : Buffer.byteLength(text.slice(chars, offset));
    chars = offset;
    offsets[at] = bytes;
  }
  return places;
}

function tabledJobs(text: string, combination: Combination): Omit<RequestedBatch, 'admission' | 'places'> {
  const root = readJson(() => parseJson(text));
  const job = requestedJob(root, text);
  const { columns, faults } = columnsOf(job.graph, tableOf(root));
  if (faults.length > 0) {
    throw Refusal.ofFields(
      faults.map(({ name, reason }) => ({ field: `table.${beginningOf(name, SHOWN_NAME_LENGTH)}`, reason })),
    );
  }
  const count = rowCount(columns, combination);
  if (count === null) {
    throw Refusal.ofFields([{ field: 'table', reason: 'has lists of different lengths: zipped ones have one length' }]);
  }
  if (columns.length === 0) throw Refusal.ofFields([{ field: 'table', reason: 'must have at least one list' }]);
  assertCount(count, 'table');
  const template = templateOf(job.graph, columns);
  return {
    count,
    template,
    jobAt(index) {
      const row = rowAt(columns, combination, index);
      return { ...job, graph: graphOfRow(job.graph, columns, row), row };
    },
    bytesAt: (index) => Buffer.byteLength(textOfRow(template, rowAt(columns, combination, index))),
  };
}

function tableOf(root: JsonNode): JsonNode {
  const table = member(root, 'table');
  if (table?.kind !== 'object') throw Refusal.ofFields([{ field: 'table', reason: 'must be an object of lists' }]);
  const { length } = table.entries;
  if (length <= BATCH_COLUMNS) return table;
  throw Refusal.ofFields([{ field: 'table', reason: `has ${length} lists; at most ${BATCH_COLUMNS} are taken` }]);
}

function assertCount(count: number, field: string): void {
  if (count >= 1 && count <= BATCH_JOBS) return;
  throw Refusal.ofFields([{ field, reason: `makes ${count} jobs; a batch has 1 to ${BATCH_JOBS}` }]);
}

/** @throws Refusal 400 when what `read` reads is not JSON. */
function readJson<T>(read: () => T, where = ''): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw new Refusal('invalid_request', jsonFault(error, where), { status: 400 });
  }
}

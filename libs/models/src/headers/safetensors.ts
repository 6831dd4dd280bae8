import { JsonLimitError, JsonSyntaxError, memberPieces } from '@millrace/workflow';
import { kindOf } from './kind';
import {
  HEADER_BYTES,
  HeaderError,
  MOST_TENSORS,
  architectureOf,
  numbersIn,
  type ModelHeader,
  type ReadBytes,
} from './model-header';

const LENGTH_BYTES = 8;
/** Of one number. Types that are not here are taken at their word. */
const BITS: Readonly<Record<string, number>> = {
  BOOL: 8,
  U8: 8,
  I8: 8,
  F8_E5M2: 8,
  F8_E4M3: 8,
  F8_E8M0: 8,
  F4: 4,
  F6_E2M3: 6,
  F6_E3M2: 6,
  U16: 16,
  I16: 16,
  F16: 16,
  BF16: 16,
  U32: 32,
  I32: 32,
  F32: 32,
  U64: 64,
  I64: 64,
  F64: 64,
  C64: 64,
};

/** Of the text of one tensor: what known files have takes 100. */
const TENSOR_CHARACTERS = 4_096;
const METADATA = '__metadata__';
/** Texts in the metadata: those that training tools write are some dozens. */
const MOST_METADATA = 10_000;

interface Tensor {
  /** How many it has. */
  numbers: number;
  start: number;
  end: number;
}

/**
 * Read the header of a safetensors file: 8 bytes with its length, then JSON, then the tensors without a gap
 * (https://github.com/huggingface/safetensors, "Format"). A file that is cut or that hides bytes is refused. The JSON is read tensor by
 * tensor: 16 MiB of small values, as one document, would take many times their length in memory.
 *
 * @throws HeaderError; what `read` rejects with.
 */
export async function readSafetensors(read: ReadBytes, sizeBytes: number): Promise<ModelHeader> {
  if (sizeBytes < LENGTH_BYTES) throw new HeaderError('is too short for a safetensors file');
  const length = (await read(0, LENGTH_BYTES)).readBigUInt64LE();
  if (length > BigInt(HEADER_BYTES)) {
    throw new HeaderError('is no safetensors file, or has a header of more than 16 MiB');
  }
  const dataStart = LENGTH_BYTES + Number(length);
  if (dataStart > sizeBytes) throw new HeaderError('ends within its header');
  return headerOf(await read(LENGTH_BYTES, dataStart), sizeBytes - dataStart);
}

function headerOf(bytes: Buffer, dataBytes: number): ModelHeader {
  const text = textOf(bytes);
  const pieces = membersOf(text, MOST_TENSORS + 1, `has more than ${MOST_TENSORS} tensors`);
  const metadata = pieces.get(METADATA);
  const architecture = metadata === undefined ? null : architectureIn(text.slice(metadata.start, metadata.end));
  pieces.delete(METADATA);
  if (pieces.size > MOST_TENSORS) throw new HeaderError(`has more than ${MOST_TENSORS} tensors`);
  const tensors = Array.from(pieces.values(), ({ start, end }) => tensorOf(text.slice(start, end)));
  assertWhole(tensors, dataBytes);
  const parameters = tensors.reduce((sum, { numbers }) => sum + numbers, 0);
  return { kind: kindOf([...pieces.keys()], architecture), architecture, parameters };
}

function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw notJson();
  }
}

/** The members of a JSON object, unread. @param excess what is said of one with more than `most`. */
function membersOf(text: string, most: number, excess: string): ReturnType<typeof memberPieces> {
  try {
    return memberPieces(text, most);
  } catch (error) {
    if (error instanceof JsonLimitError) throw new HeaderError(excess);
    if (error instanceof JsonSyntaxError) throw notJson();
    throw error;
  }
}

/** The metadata are texts by their names; null stands for none. @throws HeaderError for anything else: no loader takes such a file. */
function architectureIn(metadata: string): string | null {
  if (metadata === 'null') return null;
  const pieces = membersOf(metadata, MOST_METADATA, `has more than ${MOST_METADATA} texts in its metadata`);
  let architecture: string | null = null;
  for (const [name, { start, end }] of pieces) {
    // Anything but a text may be large as a document: it is not parsed.
    if (metadata[start] !== '"') throw new HeaderError('has metadata that are not texts');
    const value = parsed(metadata.slice(start, end));
    if (name === 'modelspec.architecture') architecture = architectureOf(value);
  }
  return architecture;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw notJson();
  }
}

function notJson(): HeaderError {
  return new HeaderError('is no safetensors file: its header is not a JSON object');
}

function tensorOf(text: string): Tensor {
  if (text.length > TENSOR_CHARACTERS) {
    throw new HeaderError(`has a tensor whose type, shape and place take more than ${TENSOR_CHARACTERS} characters`);
  }
  const entry = parsed(text);
  const { dtype, shape, data_offsets: offsets } = isRecord(entry) ? entry : {};
  const isTensor = typeof dtype === 'string' && areSizes(shape) && areSizes(offsets) && offsets.length === 2;
  if (!isTensor) throw new HeaderError('has a tensor without type, shape and place');
  const [start = 0, end = 0] = offsets;
  const numbers = numbersIn(shape);
  const bits = Object.hasOwn(BITS, dtype) ? BITS[dtype] : undefined;
  if (start > end || (bits !== undefined && Math.ceil((numbers * bits) / 8) !== end - start)) {
    throw new HeaderError('has a tensor whose place is not as large as its shape');
  }
  return { numbers, start, end };
}

/** The tensors fill the rest of the file, each behind the one before. */
function assertWhole(tensors: readonly Tensor[], dataBytes: number): void {
  let at = 0;
  for (const { start, end } of tensors.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    if (start !== at) throw new HeaderError('has tensors that overlap, or bytes that are of no tensor');
    at = end;
  }
  if (at > dataBytes) throw new HeaderError('is cut: tensors of its header are not in the file');
  if (at < dataBytes) throw new HeaderError('has bytes behind its last tensor');
}

function areSizes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 0);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

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

interface Tensor {
  shape: number[];
  start: number;
  end: number;
}

/**
 * Read the header of a safetensors file: 8 bytes with its length, then JSON, then the tensors without a gap
 * (https://github.com/huggingface/safetensors, "Format"). A file that is cut or that hides bytes is refused.
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
  const { __metadata__: metadata, ...entries } = jsonOf(bytes);
  const names = Object.keys(entries);
  if (names.length > MOST_TENSORS) throw new HeaderError(`has more than ${MOST_TENSORS} tensors`);
  const tensors = Object.values(entries).map(tensorOf);
  assertWhole(tensors, dataBytes);
  const parameters = tensors.reduce((sum, { shape }) => sum + numbersIn(shape), 0);
  const architecture = architectureOf(isRecord(metadata) ? metadata['modelspec.architecture'] : null);
  return { kind: kindOf(names, architecture), architecture, parameters };
}

function jsonOf(bytes: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    if (isRecord(value)) return value;
  } catch {
    // Not JSON: refused below, like JSON that is no object.
  }
  throw new HeaderError('is no safetensors file: its header is not a JSON object');
}

function tensorOf(entry: unknown): Tensor {
  const { dtype, shape, data_offsets: offsets } = isRecord(entry) ? entry : {};
  const isTensor = typeof dtype === 'string' && areSizes(shape) && areSizes(offsets) && offsets.length === 2;
  if (!isTensor) throw new HeaderError('has a tensor without type, shape and place');
  const [start = 0, end = 0] = offsets;
  const bits = Object.hasOwn(BITS, dtype) ? BITS[dtype] : undefined;
  if (start > end || (bits !== undefined && Math.ceil((numbersIn(shape) * bits) / 8) !== end - start)) {
    throw new HeaderError('has a tensor whose place is not as large as its shape');
  }
  return { shape, start, end };
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

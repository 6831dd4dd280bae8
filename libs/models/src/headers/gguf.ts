import { ByteReader } from './byte-reader';
import {
  HEADER_BYTES,
  HeaderError,
  MOST_TENSORS,
  architectureOf,
  numbersIn,
  type ModelHeader,
  type ModelKind,
  type ReadBytes,
} from './model-header';

const MAGIC = 0x46554747;
const VERSIONS = [2, 3];
const MOST_FIELDS = 10_000;
const MOST_DIMENSIONS = 8;
const LEAST_ALIGNMENT = 8;
const DEFAULT_ALIGNMENT = 32;
const MOST_ALIGNMENT = 65_536;

/** Types of values, by number: those of a fixed size with it, then text and lists. */
const VALUE_BYTES = [1, 1, 2, 2, 4, 4, 4, 1] as const;
const TEXT = 8;
const LIST = 9;
const WIDE = [10, 11, 12];
const U32 = 4;

/** Types of tensors whose size is known, by number: how many numbers a block has, and how many bytes. */
const BLOCKS: Readonly<Record<number, readonly [numbers: number, bytes: number]>> = {
  0: [1, 4],
  1: [1, 2],
  2: [32, 18],
  3: [32, 20],
  6: [32, 22],
  7: [32, 24],
  8: [32, 34],
  10: [256, 84],
  11: [256, 110],
  12: [256, 144],
  13: [256, 176],
  14: [256, 210],
  24: [1, 1],
  25: [1, 2],
  26: [1, 4],
  27: [1, 8],
  28: [1, 8],
  30: [1, 2],
};

/** Architectures that engines of images load, by what they are. */
const KINDS: Readonly<Record<string, ModelKind>> = {
  ...of('diffusion_model', 'flux sd1 sd3 sdxl wan ltxv hyvid cosmos lumina2 qwen_image aura hidream chroma'),
  ...of('text_encoder', 't5 t5encoder clip llama gemma2 gemma3 qwen2vl qwen3'),
};

/** What is needed of the fields of a header. */
interface Fields {
  architecture: string | null;
  type: string | null;
  alignment: number;
}

/**
 * Read the header of a GGUF file (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md), within its first 16 MiB. A file that is
 * cut is refused.
 *
 * @throws HeaderError; what `read` rejects with.
 */
export async function readGguf(read: ReadBytes, sizeBytes: number): Promise<ModelHeader> {
  const head = await read(0, Math.min(sizeBytes, HEADER_BYTES));
  const cut = sizeBytes > head.length ? 'has a header of more than 16 MiB' : 'ends within its header';
  const reader = new ByteReader(head, cut);
  if (reader.u32() !== MAGIC) throw new HeaderError('is no GGUF file: it does not begin with GGUF');
  const version = reader.u32();
  if (!VERSIONS.includes(version)) throw new HeaderError(`has version ${version} of GGUF; 2 and 3 are read`);
  const tensorCount = reader.u64();
  const fieldCount = reader.u64();
  if (tensorCount > MOST_TENSORS) throw new HeaderError(`has more than ${MOST_TENSORS} tensors`);
  if (fieldCount > MOST_FIELDS) throw new HeaderError(`has more than ${MOST_FIELDS} fields`);
  const { architecture, type, alignment } = readFields(reader, fieldCount);
  const { parameters, endOfData } = readTensors(reader, tensorCount);
  const dataStart = Math.ceil(reader.position / alignment) * alignment;
  if (tensorCount > 0 && dataStart + endOfData > sizeBytes) {
    throw new HeaderError('is cut: tensors of its header are not in the file');
  }
  return { kind: kindOf(architecture, type), architecture, parameters };
}

function readFields(reader: ByteReader, count: number): Fields {
  const fields: Fields = { architecture: null, type: null, alignment: DEFAULT_ALIGNMENT };
  for (let index = 0; index < count; index += 1) {
    const key = reader.text();
    const type = reader.u32();
    if (type === TEXT) {
      const value = reader.text();
      if (key === 'general.architecture') fields.architecture = architectureOf(value);
      if (key === 'general.type') fields.type = value;
    } else if (type === U32 && key === 'general.alignment') fields.alignment = alignmentOf(reader.u32());
    else skipValue(reader, type);
  }
  return fields;
}

function alignmentOf(alignment: number): number {
  const isOne = alignment >= LEAST_ALIGNMENT && alignment <= MOST_ALIGNMENT && alignment % LEAST_ALIGNMENT === 0;
  if (!isOne) throw new HeaderError('has an impossible alignment');
  return alignment;
}

function skipValue(reader: ByteReader, type: number, isInList = false): void {
  const bytes = WIDE.includes(type) ? 8 : VALUE_BYTES[type];
  if (bytes !== undefined) return reader.skip(bytes);
  if (type === TEXT) return void reader.text();
  // Lists of lists are in the format, and in no known file.
  if (type !== LIST || isInList) throw new HeaderError('has a field of an unknown type');
  const itemType = reader.u32();
  const count = reader.u64();
  const itemBytes = WIDE.includes(itemType) ? 8 : VALUE_BYTES[itemType];
  if (itemBytes !== undefined) return reader.skip(itemBytes * count);
  // Each item takes bytes, so that the end of the header ends this.
  for (let index = 0; index < count; index += 1) skipValue(reader, itemType, true);
}

/** @returns how many numbers there are, and where the last tensor ends behind the beginning of the data. */
function readTensors(reader: ByteReader, count: number): { parameters: number; endOfData: number } {
  let parameters = 0;
  let endOfData = 0;
  for (let index = 0; index < count; index += 1) {
    reader.skip(reader.u64());
    const dimensions = reader.u32();
    if (dimensions > MOST_DIMENSIONS) throw new HeaderError(`has a tensor of more than ${MOST_DIMENSIONS} dimensions`);
    const numbers = numbersIn(Array.from({ length: dimensions }, () => reader.u64()));
    const [blockNumbers, blockBytes] = BLOCKS[reader.u32()] ?? [1, 0];
    endOfData = Math.max(endOfData, reader.u64() + Math.ceil(numbers / blockNumbers) * blockBytes);
    parameters += numbers;
  }
  return { parameters, endOfData };
}

function kindOf(architecture: string | null, type: string | null): ModelKind | null {
  if (type === 'adapter') return 'lora';
  if (type === 'mmproj') return 'clip_vision';
  return architecture !== null && Object.hasOwn(KINDS, architecture) ? (KINDS[architecture] ?? null) : null;
}

function of(kind: ModelKind, architectures: string): Record<string, ModelKind> {
  return Object.fromEntries(architectures.split(' ').map((name) => [name, kind]));
}

import { parseLenientJson } from './lenient-json';

export type PreviewType = 'image/jpeg' | 'image/png';

/** What a binary WebSocket message carries. Ids are null where the frame does not name them. */
export type Frame =
  | {
      kind: 'picture';
      contentType: PreviewType;
      data: Buffer;
      promptId: string | null;
      nodeId: string | null;
      displayNodeId: string | null;
    }
  | { kind: 'text'; nodeId: string; text: string }
  | { kind: 'unknown' };

const PICTURE = 1;
const TEXT = 3;
const PICTURE_WITH_METADATA = 4;

const UNKNOWN: Frame = { kind: 'unknown' };

/**
 * Reads a binary frame (big endian; a type, then what the type says). Never throws: a frame that is cut short or of a
 * type of later versions is `unknown`. Pictures share the memory of `buffer`.
 */
export function readFrame(buffer: Buffer): Frame {
  if (buffer.length < 8) return UNKNOWN;
  const type = buffer.readUInt32BE(0);
  if (type === PICTURE) return plainPicture(buffer);
  const end = 8 + buffer.readUInt32BE(4);
  if (end > buffer.length) return UNKNOWN;
  if (type === TEXT)
    return { kind: 'text', nodeId: buffer.toString('utf8', 8, end), text: buffer.toString('utf8', end) };
  return type === PICTURE_WITH_METADATA ? describedPicture(buffer, end) : UNKNOWN;
}

function plainPicture(buffer: Buffer): Frame {
  const format = buffer.readUInt32BE(4);
  if (format !== 1 && format !== 2) return UNKNOWN;
  return {
    kind: 'picture',
    contentType: format === 1 ? 'image/jpeg' : 'image/png',
    data: buffer.subarray(8),
    promptId: null,
    nodeId: null,
    displayNodeId: null,
  };
}

function describedPicture(buffer: Buffer, end: number): Frame {
  const metadata = readMetadata(buffer.toString('utf8', 8, end));
  if (!metadata) return UNKNOWN;
  const contentType = metadata['image_type'];
  if (contentType !== 'image/jpeg' && contentType !== 'image/png') return UNKNOWN;
  return {
    kind: 'picture',
    contentType,
    data: buffer.subarray(end),
    promptId: textOf(metadata['prompt_id']),
    nodeId: textOf(metadata['node_id']),
    displayNodeId: textOf(metadata['display_node_id']),
  };
}

function readMetadata(text: string): Record<string, unknown> | null {
  try {
    const value = parseLenientJson(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

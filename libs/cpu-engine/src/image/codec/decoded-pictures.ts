import { NodeFault } from '../../node-api/node-fault';

/** The pictures of a file: 8-bit samples, one picture after the other. */
export interface DecodedPictures {
  width: number;
  height: number;
  count: number;
  channels: 3 | 4;
  data: Uint8Array;
  /** The alpha says nothing: it comes from one colour named transparent, or is how frames of a GIF save space. */
  alphaIsIdle: boolean;
}

/** As many as the nodes' own batches hold. Each is a call of the decoder, however small it is. */
const MAX_PICTURES = 4096;

/** @throws {NodeFault} when a file holds more pictures than are read. */
export function checkPictureCount(count: number): void {
  if (count > MAX_PICTURES)
    throw new NodeFault(
      `A file of ${count} pictures is not read; at most ${MAX_PICTURES} can be. Split the animation.`,
    );
}

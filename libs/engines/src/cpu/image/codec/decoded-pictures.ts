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

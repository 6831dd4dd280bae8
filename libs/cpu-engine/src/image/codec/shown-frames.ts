import type { RawPicture } from './vips';

export interface ShownFrame {
  picture: RawPicture;
  delayMs: number;
}

/** The frames of an animation: pictures like the one before them only prolong it, as Pillow has it. */
export function shownFrames(pictures: RawPicture[], delayMs: number): ShownFrame[] {
  const frames: ShownFrame[] = [];
  for (const picture of pictures) {
    const last = frames.at(-1);
    if (last && Buffer.compare(last.picture.data, picture.data) === 0) last.delayMs += delayMs;
    else frames.push({ picture, delayMs });
  }
  return frames;
}

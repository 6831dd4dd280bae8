import type { Work } from '../../node-api/work';
import { BoxHeap, type ColourBox } from './box-heap';

/** Pillow counts at most so many colours; with more, bits are dropped until they fit. */
const MAX_COLOURS = 65_536;

const CHECK_EVERY = 3 * 32_768;

/** How much a difference in red, green and blue weighs when choosing the axis to cut. */
const AXIS_WEIGHTS = [77, 150, 29] as const;

/** Colours that occur: `values[i]` is 0xRRGGBB with its lowest `shift` bits per channel gone, in `counts[i]` pixels. */
interface Colours {
  shift: number;
  values: Int32Array;
  counts: Int32Array;
}

/**
 * A palette of at most `size` colours for 8-bit RGB pixels: the median cut of Heckbert (1982) in Pillow's form
 * (libImaging, Quant.c). The box with the most pixels is cut next, along the axis with the widest weighted range, at the
 * value where half of its pixels are reached; a palette entry is the rounded mean of a box's pixels.
 *
 * @returns RGB triples.
 */
export function medianCutPalette(pixels: Uint8Array, size: number, work: Work): Uint8Array {
  const colours = countColours(pixels, work);
  const all = Array.from(colours.values, (_, index) => index);
  const root: ColourBox = { colours: all, pixels: pixels.length / 3, halves: null };
  const heap = new BoxHeap();
  heap.add(root);
  for (let boxes = 1; boxes < size; boxes += 1) {
    work.checkpoint();
    const box = nextToCut(heap);
    if (!box) break;
    box.halves = cut(box, colours);
    for (const half of box.halves) heap.add(half);
  }
  return meansOf(leavesOf(root), colours, pixels, work);
}

function countColours(pixels: Uint8Array, work: Work): Colours {
  for (let shift = 0; ; shift += 1) {
    const counts = new Map<number, number>();
    for (let at = 0; at < pixels.length && counts.size <= MAX_COLOURS; at += 3) {
      if (at % CHECK_EVERY === 0) work.checkpoint();
      const value = colourAt(pixels, at, shift);
      counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    if (counts.size <= MAX_COLOURS)
      return { shift, values: Int32Array.from(counts.keys()), counts: Int32Array.from(counts.values()) };
  }
}

function colourAt(pixels: Uint8Array, at: number, shift: number): number {
  const red = (pixels[at] as number) >> shift;
  const green = (pixels[at + 1] as number) >> shift;
  return (red << 16) | (green << 8) | ((pixels[at + 2] as number) >> shift);
}

function channelOf(colour: number, axis: number): number {
  return (colour >> (16 - 8 * axis)) & 0xff;
}

/** The fullest box of more than one colour; boxes of one are dropped from the heap on the way. */
function nextToCut(heap: BoxHeap): ColourBox | null {
  for (let box = heap.remove(); box; box = heap.remove()) if (box.colours.length > 1) return box;
  return null;
}

function cut(box: ColourBox, { values, counts }: Colours): [ColourBox, ColourBox] {
  const axis = widestAxis(box, values);
  const channel = (index: number): number => channelOf(values[index] as number, axis);
  const pixelsByLevel = new Int32Array(256);
  for (const index of box.colours) pixelsByLevel[channel(index)]! += counts[index] as number;
  const level = cuttingLevel(pixelsByLevel, box.pixels);
  const side = (bright: boolean): ColourBox => {
    const colours = box.colours.filter((index) => channel(index) >= level === bright);
    return { colours, pixels: colours.reduce((sum, index) => sum + (counts[index] as number), 0), halves: null };
  };
  return [side(true), side(false)];
}

function widestAxis({ colours }: ColourBox, values: Int32Array): number {
  let best = -1;
  let widest = 0;
  for (const [axis, weight] of AXIS_WEIGHTS.entries()) {
    let low = 255;
    let high = 0;
    for (const index of colours) {
      const value = channelOf(values[index] as number, axis);
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    const range = (high - low) * weight;
    if (range > best) {
      best = range;
      widest = axis;
    }
  }
  return widest;
}

/** The lowest level of the bright half: counted down from the brightest until more than half of the pixels are reached. */
function cuttingLevel(pixelsByLevel: Int32Array, total: number): number {
  let above = 0;
  let level = 256;
  while (above * 2 <= total && level > 0) above += pixelsByLevel[--level] as number;
  const darkest = pixelsByLevel.findIndex((count) => count > 0);
  return level > darkest ? level : darkest + 1;
}

function leavesOf(root: ColourBox): ColourBox[] {
  const leaves: ColourBox[] = [];
  const open = [root];
  for (let box = open.pop(); box; box = open.pop()) {
    if (box.halves) open.push(box.halves[1], box.halves[0]);
    else leaves.push(box);
  }
  return leaves;
}

function meansOf(boxes: ColourBox[], { shift, values }: Colours, pixels: Uint8Array, work: Work): Uint8Array {
  const boxOf = new Map<number, number>();
  for (const [number, box] of boxes.entries())
    for (const index of box.colours) boxOf.set(values[index] as number, number);
  const sums = new Float64Array(boxes.length * 3);
  const counts = new Float64Array(boxes.length);
  for (let at = 0; at < pixels.length; at += 3) {
    if (at % CHECK_EVERY === 0) work.checkpoint();
    const box = boxOf.get(colourAt(pixels, at, shift)) as number;
    counts[box]! += 1;
    for (let c = 0; c < 3; c += 1) sums[box * 3 + c]! += pixels[at + c] as number;
  }
  return Uint8Array.from(sums, (sum, i) => 0.5 + sum / (counts[Math.floor(i / 3)] as number));
}

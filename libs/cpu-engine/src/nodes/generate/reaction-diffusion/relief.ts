import { newImage, type ImageTensor, type Size } from '../../../image/tensor';
import type { Work } from '../../../node-api/work';
import { wrap, type GrayScott } from './gray-scott';
import { colourScheme, type Colour, type PaletteName } from './palettes';

/** What is to be shown, and in which colours. */
export interface Scene {
  field: GrayScott;
  /** Per pixel, from -1 (the scheme's first run of colours) to 1 (its second). */
  hue: Float32Array;
  palette: PaletteName;
}

const SHADES = 256;

/** v of a full-grown crest, and its trace once it has stood for long. */
const CREST = 0.4;
const OLD = 0.26;

/** How steep the surface is taken to be, and where the light comes from: upper left, raised, of length 1. */
const STEEPNESS = 7;
const LIGHT = [-0.48, -0.6, 0.64] as const;
/** Halfway between the light and the eye straight above, of length 1; where a gloss shows. */
const HALFWAY = [-0.265, -0.3313, 0.9055] as const;

/** Shadows are looked for so many pixels towards the light; each pixel, a crest must be so much higher to throw one. */
const SHADOW_REACH = 7;
const SHADOW_RISE = 0.03;

/**
 * The field as a surface lit from the upper left: crests of v stand out of the ground, glossy towards the light, and throw
 * soft shadows. Light is added up on squared values, which is near enough to linear light and needs no more than a root
 * to undo.
 */
export function renderRelief({ field, hue, palette }: Scene, work: Work): ImageTensor {
  const image = newImage(work, 1, field.size, 3);
  const heights = smoothed(field, work);
  const { first, second, light } = colourScheme(palette);
  const ramps = [ramp(first), ramp(second)] as const;
  const gloss = light.map((value) => value * value);
  const { width, height } = field.size;
  for (let y = 0; y < height; y += 1) {
    work.checkpoint();
    for (let x = 0; x < width; x += 1) {
      const cell = field.at(x, y);
      const pixel = y * width + x;
      const own = heights[cell] as number;
      const { diffuse, shine } = reflected(heights, cell, field.stride);
      const sunlight = 1 - unit(shadow(heights, field, x, y) * 5);
      const brightness = 0.3 + 1.15 * diffuse * (0.35 + 0.65 * sunlight);
      const shade = 3 * Math.round(unit(own / CREST) * (SHADES - 1));
      const mix = unit(0.5 + 0.45 * (hue[pixel] as number) + 0.35 * (unit((field.trace[cell] as number) / OLD) - 0.5));
      for (let c = 0; c < 3; c += 1) {
        const colour = (ramps[0][shade + c] as number) * (1 - mix) + (ramps[1][shade + c] as number) * mix;
        image.data[pixel * 3 + c] = Math.sqrt(unit(colour * brightness + (gloss[c] as number) * shine * sunlight));
      }
    }
  }
  return image;
}

/** v with each cell mixed with those around it twice over, so that single cells do not show as facets. */
function smoothed(field: GrayScott, work: Work): Float32Array {
  const once = work.floats(field.v.length);
  const twice = work.floats(field.v.length);
  smooth(field.v, once, field);
  smooth(once, twice, field);
  wrap(twice, field.size);
  return twice;
}

function smooth(
  from: Float32Array,
  to: Float32Array,
  field: { size: Size; stride: number; at: GrayScott['at'] },
): void {
  const { size, stride } = field;
  wrap(from, size);
  for (let y = 0; y < size.height; y += 1) {
    for (let i = field.at(0, y); i < field.at(size.width, y); i += 1) {
      const beside = (from[i - 1] as number) + (from[i + 1] as number);
      const above = (from[i - stride] as number) + (from[i + stride] as number);
      to[i] = (from[i] as number) * 0.5 + (beside + above) * 0.125;
    }
  }
}

/** How much light the surface at a cell throws back: scattered, and mirrored to the eye. */
function reflected(heights: Float32Array, cell: number, stride: number): { diffuse: number; shine: number } {
  const dx = ((heights[cell + 1] as number) - (heights[cell - 1] as number)) * STEEPNESS;
  const dy = ((heights[cell + stride] as number) - (heights[cell - stride] as number)) * STEEPNESS;
  const length = Math.sqrt(dx * dx + dy * dy + 1);
  const diffuse = Math.max(0, (LIGHT[2] - dx * LIGHT[0] - dy * LIGHT[1]) / length);
  const towards = Math.max(0, (HALFWAY[2] - dx * HALFWAY[0] - dy * HALFWAY[1]) / length);
  const to4 = towards * towards * towards * towards;
  const to16 = to4 * to4 * to4 * to4;
  return { diffuse, shine: 0.4 * to16 * to16 * to4 };
}

/** By how much the surface between a cell and the light stands in the light's way. */
function shadow(heights: Float32Array, field: GrayScott, x: number, y: number): number {
  const { width, height } = field.size;
  const own = heights[field.at(x, y)] as number;
  let blocked = 0;
  for (let distance = 1; distance <= SHADOW_REACH; distance += 1) {
    const towardsX = Math.round(x + distance * LIGHT[0] * 1.3 + width) % width;
    const towardsY = Math.round(y + distance * LIGHT[1] * 1.3 + height) % height;
    const rise = (heights[field.at(towardsX, towardsY)] as number) - own - distance * SHADOW_RISE;
    if (rise > blocked) blocked = rise;
  }
  return blocked;
}

/** Squared colours in even steps between the stops. */
function ramp(stops: readonly Colour[]): Float32Array {
  const shades = new Float32Array(SHADES * 3);
  for (let shade = 0; shade < SHADES; shade += 1) {
    const place = (shade / (SHADES - 1)) * (stops.length - 1);
    const low = Math.min(Math.floor(place), stops.length - 2);
    const part = place - low;
    for (let c = 0; c < 3; c += 1) {
      const value = (stops[low]?.[c] ?? 0) * (1 - part) + (stops[low + 1]?.[c] ?? 0) * part;
      shades[shade * 3 + c] = value * value;
    }
  }
  return shades;
}

function unit(value: number): number {
  return Math.min(Math.max(value, 0), 1);
}

import { fillTensor } from '../../image/pointwise';
import { extendBatch } from '../../image/batch';
import { withChannels } from '../../image/channels';
import { paste } from '../../image/paste';
import { resize } from '../../image/resize/resize';
import { newImage, type ImageTensor, type Size, rowLength } from '../../image/tensor';
import { defineNode, output } from '../../node-api/node-class';
import type { NodeContext } from '../../node-api/node-context';
import { boolean, combo, image, int, optional } from '../../node-api/node-input';

const COLOURS = {
  white: [1, 1, 1],
  black: [0, 0, 0],
  red: [1, 0, 0],
  green: [0, 1, 0],
  blue: [0, 0, 1],
} as const;
type Colour = keyof typeof COLOURS;

export const imageStitch = defineNode({
  name: 'ImageStitch',
  displayName: 'Image Stitch',
  category: 'image/transform',
  description: 'Two pictures side by side or one above the other, with a coloured gap between them if wished.',
  inputs: {
    image1: image(),
    direction: combo(['right', 'down', 'left', 'up'], 'right'),
    match_image_size: boolean(true),
    spacing_width: int({ default: 0, min: 0, max: 1024 }),
    spacing_color: combo(['white', 'black', 'red', 'green', 'blue'], 'white'),
    image2: optional(image()),
  },
  outputs: [output('IMAGE')],
  run({ image1, image2, direction, match_image_size, spacing_width, spacing_color }, context) {
    if (!image2) return [image1];
    const sideways = direction === 'right' || direction === 'left';
    const batch = Math.max(image1.batch, image2.batch);
    const channels = Math.max(image1.channels, image2.channels);
    const one = extendBatch(image1, batch, context);
    const two = extendBatch(image2, batch, context);
    const matched = match_image_size ? resize(two, matchingSize(one, two, sideways), 'lanczos', context) : two;
    const first = centred(one, matched, sideways, spacing_color, context);
    const second = centred(matched, one, sideways, spacing_color, context);
    const parts = [withChannels(first, channels, context), withChannels(second, channels, context)];
    if (direction === 'left' || direction === 'up') parts.reverse();
    const gap = spacing_width + (spacing_width % 2);
    return [row(parts, gap, sideways, spacing_color, context)];
  },
});

/** The size at which the second picture's touching side is as long as the first one's, cut off to whole pixels. */
function matchingSize(one: Size, two: Size, sideways: boolean): Size {
  const aspect = two.width / two.height;
  return sideways
    ? { height: one.height, width: Math.trunc(one.height * aspect) }
    : { width: one.width, height: Math.trunc(one.width / aspect) };
}

/** The picture between two bars where the other one's touching side is longer: white if the gap is, else black. */
function centred(part: ImageTensor, other: Size, sideways: boolean, colour: Colour, context: NodeContext): ImageTensor {
  const size = sideways
    ? { width: part.width, height: Math.max(part.height, other.height) }
    : { width: Math.max(part.width, other.width), height: part.height };
  if (size.width === part.width && size.height === part.height) return part;
  const result = newImage(context, part.batch, size, part.channels);
  if (colour === 'white') fillTensor(result, 1, context);
  const place = { x: Math.floor((size.width - part.width) / 2), y: Math.floor((size.height - part.height) / 2) };
  paste(result, part, place, context);
  return result;
}

/** The parts in a row, on an opaque ground of the gap's colour. */
function row(parts: ImageTensor[], gap: number, sideways: boolean, colour: Colour, context: NodeContext): ImageTensor {
  const [first, second] = parts as [ImageTensor, ImageTensor];
  const size = sideways
    ? { width: first.width + gap + second.width, height: first.height }
    : { width: first.width, height: first.height + gap + second.height };
  const result = newImage(context, first.batch, size, first.channels);
  const ground = [...COLOURS[colour], 1].slice(0, result.channels);
  for (let at = 0; gap > 0 && at < result.data.length; at += ground.length) {
    if (at % rowLength(result) === 0) context.checkpoint();
    result.data.set(ground, at);
  }
  paste(result, first, { x: 0, y: 0 }, context);
  paste(result, second, sideways ? { x: first.width + gap, y: 0 } : { x: 0, y: first.height + gap }, context);
  return result;
}

import { newLike, type MaskTensor } from '../../image/tensor';
import { defineNode, output } from '../../node-api/node-class';
import { mask, pixels } from '../../node-api/node-input';

export const featherMask = defineNode({
  name: 'FeatherMask',
  category: 'mask',
  description: 'The mask fading out towards its edges, over so many pixels on each side.',
  inputs: { mask: mask(), left: pixels(0, 0), top: pixels(0, 0), right: pixels(0, 0), bottom: pixels(0, 0) },
  outputs: [output('MASK')],
  run({ mask, left, top, right, bottom }, context) {
    const result = newLike(context, mask, mask);
    result.data.set(mask.data);
    const { width, height } = mask;
    const scaleEdge = (extent: number, scale: (line: number, rate: number) => void): void => {
      for (let i = 0; i < extent; i += 1) {
        context.checkpoint();
        scale(i, Math.fround((i + 1) / extent));
      }
    };
    scaleEdge(Math.min(left, width), (i, rate) => scaleColumn(result, i, rate));
    scaleEdge(Math.min(right, width), (i, rate) => scaleColumn(result, fromEnd(i, width), rate));
    scaleEdge(Math.min(top, height), (i, rate) => scaleRow(result, i, rate));
    scaleEdge(Math.min(bottom, height), (i, rate) => scaleRow(result, fromEnd(i, height), rate));
    return [result];
  },
});

/** The field counts back from the end with `-i`, so that its line 0 is the first line of the mask, not the last. */
function fromEnd(line: number, length: number): number {
  return line === 0 ? 0 : length - line;
}

function scaleColumn({ data, width }: MaskTensor, x: number, rate: number): void {
  for (let at = x; at < data.length; at += width) data[at] = (data[at] as number) * rate;
}

function scaleRow({ data, batch, width, height }: MaskTensor, y: number, rate: number): void {
  for (let n = 0; n < batch; n += 1) {
    const from = (n * height + y) * width;
    for (let at = from; at < from + width; at += 1) data[at] = (data[at] as number) * rate;
  }
}

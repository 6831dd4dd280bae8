import { NodeFault } from '../../node-api/node-fault';
import { newLike, shapeText } from '../../image/tensor';
import { defineNode, output } from '../../node-api/node-class';
import { combo, mask, pixels } from '../../node-api/node-input';
import { roundHalfEven } from '../../python/round';

const { fround } = Math;

const OPERATIONS = {
  multiply: (under: number, over: number) => fround(under * over),
  add: (under: number, over: number) => fround(under + over),
  subtract: (under: number, over: number) => fround(under - over),
  and: (under: number, over: number) => Number(isSet(under) && isSet(over)),
  or: (under: number, over: number) => Number(isSet(under) || isSet(over)),
  xor: (under: number, over: number) => Number(isSet(under) !== isSet(over)),
};

export const maskComposite = defineNode({
  name: 'MaskComposite',
  category: 'mask',
  description: 'One mask laid over another at a place and reckoned with it there; the result is held to 0..1.',
  inputs: {
    destination: mask(),
    source: mask(),
    x: pixels(0, 0),
    y: pixels(0, 0),
    operation: combo(['multiply', 'add', 'subtract', 'and', 'or', 'xor']),
  },
  outputs: [output('MASK')],
  run({ destination, source, x, y, operation }, context) {
    if (source.batch !== 1 && source.batch !== destination.batch)
      throw new NodeFault(
        `source holds ${shapeText(source)} and destination ${shapeText(destination)}; give one source mask, or as many.`,
      );
    const reckon = OPERATIONS[operation];
    const result = newLike(context, destination, destination);
    result.data.set(destination.data);
    const width = Math.min(source.width, destination.width - x);
    const height = Math.min(source.height, destination.height - y);
    for (let n = 0; n < result.batch; n += 1) {
      const from = source.batch === 1 ? 0 : n * source.height * source.width;
      for (let row = 0; row < height; row += 1) {
        context.checkpoint();
        for (let column = 0; column < width; column += 1) {
          const at = (n * result.height + y + row) * result.width + x + column;
          result.data[at] = reckon(
            result.data[at] as number,
            source.data[from + row * source.width + column] as number,
          );
        }
      }
    }
    for (let i = 0; i < result.data.length; i += 1) {
      if (i % result.width === 0) context.checkpoint();
      result.data[i] = Math.min(Math.max(result.data[i] as number, 0), 1);
    }
    return [result];
  },
});

function isSet(value: number): boolean {
  return roundHalfEven(value) !== 0;
}

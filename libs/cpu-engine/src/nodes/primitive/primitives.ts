import { defineNode, output } from '../../node-api/node-class';
import { bigInt, boolean, float, string } from '../../node-api/node-input';

/** `sys.maxsize`: the bounds of the field's number primitives. */
const MAX_SIZE = '9223372036854775807';
const BOUNDS = { min: `-${MAX_SIZE}`, max: MAX_SIZE };
const CATEGORY = 'utils/primitive';

/** Values that graphs hold in nodes of their own. */
export const PRIMITIVE_NODES = [
  defineNode({
    name: 'PrimitiveString',
    displayName: 'String',
    category: CATEGORY,
    description: 'A line of text.',
    inputs: { value: string({ multiline: false }) },
    outputs: [output('STRING')],
    run: ({ value }) => [value],
  }),
  defineNode({
    name: 'PrimitiveStringMultiline',
    displayName: 'String (Multiline)',
    category: CATEGORY,
    description: 'A text.',
    inputs: { value: string({ multiline: true }) },
    outputs: [output('STRING')],
    run: ({ value }) => [value],
  }),
  defineNode({
    name: 'PrimitiveInt',
    displayName: 'Int',
    category: CATEGORY,
    description: 'A whole number of up to 64 bits.',
    inputs: { value: bigInt(BOUNDS) },
    outputs: [output('INT')],
    run: ({ value }) => [value],
  }),
  defineNode({
    name: 'PrimitiveFloat',
    displayName: 'Float',
    category: CATEGORY,
    description: 'A number.',
    inputs: { value: float(BOUNDS) },
    outputs: [output('FLOAT')],
    run: ({ value }) => [value],
  }),
  defineNode({
    name: 'PrimitiveBoolean',
    displayName: 'Boolean',
    category: CATEGORY,
    description: 'True or false.',
    inputs: { value: boolean() },
    outputs: [output('BOOLEAN')],
    run: ({ value }) => [value],
  }),
];

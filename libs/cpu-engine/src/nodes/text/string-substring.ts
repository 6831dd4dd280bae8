import { defineNode, output } from '../../node-api/node-class';
import { bigInt, string } from '../../node-api/node-input';
import { sliceText } from '../../python/text';

export const stringSubstring = defineNode({
  name: 'StringSubstring',
  displayName: 'Substring',
  category: 'utils/string',
  description: 'The characters from one place up to another; negative places count from the end.',
  inputs: { string: string({ multiline: true }), start: bigInt(), end: bigInt() },
  outputs: [output('STRING')],
  run: ({ string, start, end }) => [sliceText(string, start, end)],
});

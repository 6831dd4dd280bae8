import { defineNode, output } from '../../node-api/node-class';
import { string } from '../../node-api/node-input';
import { lengthOf } from '../../python/text';

export const stringLength = defineNode({
  name: 'StringLength',
  displayName: 'Length',
  category: 'utils/string',
  description: 'How many characters the text has.',
  inputs: { string: string({ multiline: true }) },
  outputs: [output('INT', 'length')],
  run: ({ string }) => [BigInt(lengthOf(string))],
});

import { defineNode, output } from '../../node-api/node-class';
import { string } from '../../node-api/node-input';
import { checkTextLength } from '../../node-api/text-length';

export const stringConcatenate = defineNode({
  name: 'StringConcatenate',
  displayName: 'Concatenate',
  category: 'utils/string',
  description: 'Two texts with a delimiter between them.',
  inputs: {
    string_a: string({ multiline: true }),
    string_b: string({ multiline: true }),
    delimiter: string({ default: '', multiline: false }),
  },
  outputs: [output('STRING')],
  run({ string_a, string_b, delimiter }) {
    checkTextLength(string_a.length + delimiter.length + string_b.length);
    return [string_a + delimiter + string_b];
  },
});

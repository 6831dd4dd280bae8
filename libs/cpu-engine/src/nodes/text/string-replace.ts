import { defineNode, output } from '../../node-api/node-class';
import { string } from '../../node-api/node-input';
import { replaceText } from '../../python/text';

export const stringReplace = defineNode({
  name: 'StringReplace',
  displayName: 'Replace',
  category: 'utils/string',
  description: 'The text with every occurrence of one text replaced by another.',
  inputs: {
    string: string({ multiline: true }),
    find: string({ multiline: true }),
    replace: string({ multiline: true }),
  },
  outputs: [output('STRING')],
  run: ({ string, find, replace }) => [replaceText(string, find, replace)],
});

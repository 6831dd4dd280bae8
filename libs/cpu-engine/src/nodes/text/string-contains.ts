import { defineNode, output } from '../../node-api/node-class';
import { boolean, string } from '../../node-api/node-input';
import { lowered } from '../../python/text';

export const stringContains = defineNode({
  name: 'StringContains',
  displayName: 'Contains',
  category: 'utils/string',
  description: 'Whether one text occurs in another.',
  inputs: {
    string: string({ multiline: true }),
    substring: string({ multiline: true }),
    case_sensitive: boolean(true),
  },
  outputs: [output('BOOLEAN', 'contains')],
  run({ string, substring, case_sensitive }) {
    return [case_sensitive ? string.includes(substring) : lowered(string).includes(lowered(substring))];
  },
});

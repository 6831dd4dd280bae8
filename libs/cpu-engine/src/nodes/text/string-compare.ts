import { defineNode, output } from '../../node-api/node-class';
import { boolean, combo, string } from '../../node-api/node-input';
import { lowered } from '../../python/text';

const COMPARISONS = {
  'Starts With': (a: string, b: string) => a.startsWith(b),
  'Ends With': (a: string, b: string) => a.endsWith(b),
  Equal: (a: string, b: string) => a === b,
};

export const stringCompare = defineNode({
  name: 'StringCompare',
  displayName: 'Compare',
  category: 'utils/string',
  description: 'Whether one text starts with, ends with or equals another.',
  inputs: {
    string_a: string({ multiline: true }),
    string_b: string({ multiline: true }),
    mode: combo(['Starts With', 'Ends With', 'Equal']),
    case_sensitive: boolean(true),
  },
  outputs: [output('BOOLEAN')],
  run({ string_a, string_b, mode, case_sensitive }) {
    const compare = COMPARISONS[mode];
    return [case_sensitive ? compare(string_a, string_b) : compare(lowered(string_a), lowered(string_b))];
  },
});

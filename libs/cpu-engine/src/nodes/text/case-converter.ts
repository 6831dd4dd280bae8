import { defineNode, output } from '../../node-api/node-class';
import { combo, string } from '../../node-api/node-input';
import { capitalized, lowered, titled } from '../../python/text';

const CASES = {
  UPPERCASE: (text: string) => text.toUpperCase(),
  lowercase: lowered,
  Capitalize: capitalized,
  'Title Case': titled,
};

export const caseConverter = defineNode({
  name: 'CaseConverter',
  displayName: 'Case Converter',
  category: 'utils/string',
  description: 'The text in upper, lower, sentence or title case.',
  inputs: {
    string: string({ multiline: true }),
    mode: combo(['UPPERCASE', 'lowercase', 'Capitalize', 'Title Case']),
  },
  outputs: [output('STRING')],
  run: ({ string, mode }) => [CASES[mode](string)],
});

import { defineNode, output } from '../../node-api/node-class';
import { FLAG_INPUTS, SUBJECT_INPUTS, withRegex } from './regex-inputs';

export const regexMatch = defineNode({
  name: 'RegexMatch',
  displayName: 'Regex Match',
  category: 'utils/string',
  description: 'Whether a regular expression (of Python) matches anywhere in the text.',
  inputs: { ...SUBJECT_INPUTS, ...FLAG_INPUTS },
  outputs: [output('BOOLEAN', 'matches')],
  run: (inputs, context) => [withRegex(inputs, context, (regex) => regex.search(inputs.string) !== null) ?? false],
});

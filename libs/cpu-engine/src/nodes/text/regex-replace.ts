import { defineNode, output } from '../../node-api/node-class';
import { int, optional, string } from '../../node-api/node-input';
import { FLAG_INPUTS, SUBJECT_INPUTS, runRegex } from './regex-inputs';

export const regexReplace = defineNode({
  name: 'RegexReplace',
  displayName: 'Regex Replace',
  category: 'utils/string',
  description: 'The text with the matches of a regular expression (of Python) replaced; all of them if count is 0.',
  inputs: {
    ...SUBJECT_INPUTS,
    replace: string({ multiline: true }),
    case_insensitive: optional(FLAG_INPUTS.case_insensitive),
    multiline: optional(FLAG_INPUTS.multiline),
    dotall: optional(FLAG_INPUTS.dotall),
    count: optional(int({ default: 0, min: 0, max: 100 })),
  },
  outputs: [output('STRING')],
  run(
    { string, replace, count = 0, case_insensitive = true, multiline = false, dotall = false, regex_pattern },
    context,
  ) {
    const inputs = { regex_pattern, case_insensitive, multiline, dotall };
    return [runRegex(inputs, context, (regex) => regex.replace(string, replace, count))];
  },
});

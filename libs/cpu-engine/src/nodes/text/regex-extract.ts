import { NodeFault } from '../../node-api/node-fault';
import { defineNode, output } from '../../node-api/node-class';
import { combo, int } from '../../node-api/node-input';
import type { Match, PythonRegex } from '../../python/regex/regex';
import { checkTextLength } from '../../node-api/text-length';
import { FLAG_INPUTS, SUBJECT_INPUTS, withRegex } from './regex-inputs';

/** What each mode takes out of a text. Null stands for a group that took no part in the match. */
const MODES = {
  'First Match': (regex: PythonRegex, text: string) => regex.search(text)?.[0] ?? '',
  'All Matches': (regex: PythonRegex, text: string) =>
    linesOf(regex, text, (match) => (regex.groupCount > 0 ? match[1] : match[0]) ?? ''),
  'First Group': (regex: PythonRegex, text: string, group: number) => {
    const match = regex.search(text);
    return match && regex.groupCount >= group ? (match[group] ?? null) : '';
  },
  'All Groups': (regex: PythonRegex, text: string, group: number) => {
    if (regex.groupCount === 0 || regex.groupCount < group) return '';
    return linesOf(regex, text, (match) => match[group] ?? noMatch(group));
  },
};

export const regexExtract = defineNode({
  name: 'RegexExtract',
  displayName: 'Regex Extract',
  category: 'utils/string',
  description: 'What a regular expression (of Python) or one of its groups matches, once or everywhere, a line each.',
  inputs: {
    ...SUBJECT_INPUTS,
    mode: combo(['First Match', 'All Matches', 'First Group', 'All Groups']),
    ...FLAG_INPUTS,
    group_index: int({ default: 1, min: 0, max: 100 }),
  },
  outputs: [output('STRING')],
  run(inputs, context) {
    const { string, mode, group_index } = inputs;
    // Not `??`: a group without a match is null, and so is no expression.
    let result: string | null = '';
    withRegex(inputs, context, (regex) => (result = MODES[mode](regex, string, group_index)));
    return [result];
  },
});

/** A line for each match. */
function linesOf(regex: PythonRegex, text: string, line: (match: Match) => string): string {
  const lines: string[] = [];
  let units = 0;
  for (const match of regex.searchAll(text)) {
    const taken = line(match);
    checkTextLength((units += taken.length + 1));
    lines.push(taken);
  }
  return lines.join('\n');
}

function noMatch(group: number): never {
  throw new NodeFault(`Group ${group} takes no part in one of the matches; choose another group or pattern.`);
}

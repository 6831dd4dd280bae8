import { defineNode, output } from '../../node-api/node-class';
import { combo, string } from '../../node-api/node-input';
import { stripEnd, stripStart } from '../../python/text';

export const stringTrim = defineNode({
  name: 'StringTrim',
  displayName: 'Trim',
  category: 'utils/string',
  description: 'The text without white space at its start, its end or both.',
  inputs: { string: string({ multiline: true }), mode: combo(['Both', 'Left', 'Right']) },
  outputs: [output('STRING')],
  run({ string, mode }) {
    const started = mode === 'Right' ? string : stripStart(string);
    return [mode === 'Left' ? started : stripEnd(started)];
  },
});

import { defineNode } from '../../node-api/node-class';
import { anything } from '../../node-api/node-input';
import { booleanText, dumped, floatText, strOf } from '../../python/format';
import { tensorText } from '../../python/tensor-text';
import type { Value } from '../../node-api/value';

export const previewAny = defineNode({
  name: 'PreviewAny',
  displayName: 'Preview Any',
  category: 'utils',
  description: 'Any value, as text: numbers as Python writes them, pictures and masks as torch prints tensors.',
  inputs: { source: anything() },
  outputNode: true,
  async run({ source }, context) {
    await context.saveText(textOf(source));
    return [];
  },
});

function textOf(value: Value): string {
  if (value === null) return 'None';
  if (typeof value === 'number') return floatText(value);
  if (typeof value === 'boolean') return booleanText(value);
  if (typeof value !== 'object') return String(value);
  if (value.kind !== 'JSON') return tensorText(value);
  const { node } = value;
  return node.kind === 'object' || node.kind === 'array' ? dumped(node) : strOf(node);
}

import type { NodeClass } from './node-class';

/** The answer of `GET /object_info`, as text: it holds whole numbers that JavaScript can't. */
export function objectInfoText(classes: Readonly<Record<string, NodeClass>>): string {
  return `{${Object.entries(classes)
    .map(([name, nodeClass]) => `${JSON.stringify(name)}: ${classText(name, nodeClass)}`)
    .join(', ')}}`;
}

function classText(name: string, nodeClass: NodeClass): string {
  const { required = {}, optional, outputs = [], outputNode = false, category = 'test' } = nodeClass;
  const sections = [`"required": ${inputsText(required)}`];
  if (optional) sections.push(`"optional": ${inputsText(optional)}`);
  if (outputNode) sections.push('"hidden": {"prompt": "PROMPT", "extra_pnginfo": "EXTRA_PNGINFO"}');
  const rest = {
    output: outputs,
    output_is_list: outputs.map(() => false),
    output_name: outputs,
    name,
    display_name: name,
    description: '',
    python_module: 'nodes',
    category,
    output_node: outputNode,
  };
  return `{"input": {${sections.join(', ')}}, ${JSON.stringify(rest).slice(1)}`;
}

function inputsText(inputs: Readonly<Record<string, string>>): string {
  return `{${Object.entries(inputs)
    .map(([name, spec]) => `${JSON.stringify(name)}: ${spec}`)
    .join(', ')}}`;
}

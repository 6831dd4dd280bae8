import type { BoundNode } from './bound-node';
import type { NodeContext } from '../node-api/node-context';
import type { NodeResult } from '../node-api/node-class';
import type { NodeOutputs } from './result-cache';
import type { Value } from '../node-api/value';

/** Per input, the list of values that arrived. */
export type InputLists = ReadonlyMap<string, Value[]>;

/**
 * Run a node over the lists at its inputs, as the field does: once per element of the longest list, shorter ones going on
 * with their last element; a class that takes lists runs once. Outputs of the calls are joined to lists.
 *
 * @param kept called with the values of each call when it ends
 */
export async function callNode(
  { nodeClass }: BoundNode,
  inputs: InputLists,
  context: NodeContext,
  kept: (values: Value[]) => void,
): Promise<NodeOutputs> {
  const outputs: NodeOutputs = nodeClass.entry.outputs.map(() => []);
  const take = (name: string, value: Value): unknown => nodeClass.inputs.get(name)?.take(value, name);
  const calls = nodeClass.takesLists ? 1 : Math.max(1, ...[...inputs.values()].map((list) => list.length));
  for (let call = 0; call < calls; call += 1) {
    context.checkpoint();
    const given = [...inputs].map(([name, list]): [string, unknown] => [
      name,
      nodeClass.takesLists
        ? list.map((value) => take(name, value))
        : take(name, list[Math.min(call, list.length - 1)] as Value),
    ]);
    const result = await nodeClass.run(Object.fromEntries(given), context);
    join(outputs, result, nodeClass.entry.outputs);
    kept(result.flat());
  }
  return outputs;
}

function join(outputs: NodeOutputs, result: NodeResult, declared: { list: boolean }[]): void {
  for (const [index, { list }] of declared.entries()) {
    const value = result[index] ?? null;
    if (list) outputs[index]?.push(...(value as Value[]));
    else outputs[index]?.push(value as Value);
  }
}

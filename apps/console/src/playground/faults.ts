import type { NodeErrors } from '@millrace/contracts';

/** What is wrong with each input, by node and input, in the API's words. A node's own fault has the input '', one of the graph the node ''. */
export type Faults = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** The faults that the API found: it alone knows what an engine takes. Of several of one input, one stands for all. */
export function faultsOfAnswer(errors: NodeErrors): Faults {
  return new Map(
    Object.entries(errors).map(([id, list]) => [id, new Map(list.map(({ field, message }) => [field ?? '', message]))]),
  );
}

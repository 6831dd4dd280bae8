import type { InputSpec, NodeCatalogue, NodeClass } from '@millrace/contracts';

/** The class of a name, or undefined. Own keys only: a graph may well name a class `constructor` or `__proto__`. */
export function classOf(catalogue: NodeCatalogue, name: string): NodeClass | undefined {
  return Object.hasOwn(catalogue, name) ? catalogue[name] : undefined;
}

/** The declared input of a name, or undefined. */
export function inputOf(nodeClass: NodeClass, name: string): InputSpec | undefined {
  return Object.hasOwn(nodeClass.inputs, name) ? nodeClass.inputs[name] : undefined;
}

/**
 * True when a link may carry `given` into an input of type `wanted`: they have an alternative in common, or one of them
 * is `*`. An engine compares type names and never converts: an INT output does not fit a FLOAT input.
 */
export function typesMeet(given: string, wanted: string): boolean {
  if (given === wanted || given === '*' || wanted === '*') return true;
  if (!given.includes(',') && !wanted.includes(',')) return false;
  const offered = alternatives(given);
  return alternatives(wanted).some((type) => type === '*' || offered.includes('*') || offered.includes(type));
}

export function alternatives(type: string): string[] {
  return type.split(',').map((name) => name.trim());
}

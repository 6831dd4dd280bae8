import { isDeepStrictEqual } from 'node:util';
import type { InputSpec, NodeCatalogue, NodeClass } from '@millrace/contracts';

/** What each of several engines can run, and the classes that had to be narrowed or left out for it. */
export interface CommonCatalogue {
  catalogue: NodeCatalogue;
  /** In order of name; empty when the engines agree. */
  differing: string[];
}

/**
 * The catalogue that is true of every engine a job may come to: classes that all engines have and describe alike, with the
 * options that all of them offer. A class that the engines describe differently, other than by options, is left out: a graph
 * that one engine accepts would fail on another.
 */
export function commonCatalogue(catalogues: readonly NodeCatalogue[]): CommonCatalogue {
  const [first = {}, ...others] = catalogues;
  const common: [string, NodeClass][] = [];
  const differing = new Set<string>();
  for (const name of new Set(catalogues.flatMap((catalogue) => Object.keys(catalogue)))) {
    const described = own(first, name);
    const shared = others.reduce<NodeClass | undefined>((one, other) => agreed(one, own(other, name)), described);
    if (shared !== undefined) common.push([name, shared]);
    if (shared === undefined || shared !== described) differing.add(name);
  }
  return { catalogue: Object.fromEntries(common), differing: [...differing].sort() };
}

/** What both descriptions allow; `one` itself where they say the same. */
function agreed(one: NodeClass | undefined, other: NodeClass | undefined): NodeClass | undefined {
  if (one === undefined || other === undefined) return undefined;
  if (isDeepStrictEqual(one, other)) return one;
  const inputs = Object.entries(one.inputs).map(
    ([name, spec]) => [name, narrowed(spec, own(other.inputs, name))] as const,
  );
  const narrow = { ...one, inputs: Object.fromEntries(inputs) };
  return isDeepStrictEqual(withoutOptions(narrow), withoutOptions(other)) ? narrow : undefined;
}

/** The options of both; the default goes where it is none of them. */
function narrowed(spec: InputSpec, other: InputSpec | undefined): InputSpec {
  if (spec.options === undefined || other?.options === undefined) return spec;
  const { default: preset, ...rest } = spec;
  const options = spec.options.filter((option) => other.options?.includes(option));
  const isOffered = options.some((option) => option === preset);
  return { ...rest, ...(isOffered ? { default: preset } : {}), options };
}

/** What has to agree: a default often is the first option, and follows it. */
function withoutOptions({ inputs, ...rest }: NodeClass): unknown {
  const bare = Object.entries(inputs).map(([name, spec]): [string, InputSpec] => {
    const { options, default: _default, ...judged } = spec;
    return [name, options === undefined ? spec : { ...judged, options: [] }];
  });
  return { ...rest, inputs: Object.fromEntries(bare) };
}

function own<T>(record: Record<string, T>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

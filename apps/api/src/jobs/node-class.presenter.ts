import type { InputSpec, NodeClass, NodeClassView, NodeInputView } from '@millrace/contracts';
import { withNames, type LibraryOptions } from './library-options';

/** What a node class looks like on the wire. @param library what its inputs are offered of the caller's library. */
export function presentNodeClass(
  className: string,
  { displayName, outputNode, acceptsUnknownInputs, inputs, ...rest }: NodeClass,
  library: LibraryOptions,
): NodeClassView {
  const shown = Object.entries(inputs).map(([name, input]) => [
    name,
    presentInput(input, library.for(className, name, input)),
  ]);
  return {
    display_name: displayName,
    ...rest,
    inputs: Object.fromEntries(shown) as Record<string, NodeInputView>,
    output_node: outputNode,
    ...(acceptsUnknownInputs === undefined ? {} : { accepts_unknown_inputs: acceptsUnknownInputs }),
  };
}

function presentInput({ linkOnly, libraryModels, ...rest }: InputSpec, names: readonly string[]): NodeInputView {
  return {
    ...rest,
    ...(linkOnly === undefined ? {} : { link_only: linkOnly }),
    ...(libraryModels === undefined ? {} : { library_models: libraryModels }),
    ...(names.length === 0 ? {} : { options: withNames(rest.options, names), library_options: [...names] }),
  };
}

import type { InputSpec, NodeClass, NodeClassView, NodeInputView } from '@millrace/contracts';

/** What a node class looks like on the wire. */
export function presentNodeClass({
  displayName,
  outputNode,
  acceptsUnknownInputs,
  inputs,
  ...rest
}: NodeClass): NodeClassView {
  return {
    display_name: displayName,
    ...rest,
    inputs: Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, presentInput(input)])),
    output_node: outputNode,
    ...(acceptsUnknownInputs === undefined ? {} : { accepts_unknown_inputs: acceptsUnknownInputs }),
  };
}

function presentInput({ linkOnly, libraryModels, ...rest }: InputSpec): NodeInputView {
  return {
    ...rest,
    ...(linkOnly === undefined ? {} : { link_only: linkOnly }),
    ...(libraryModels === undefined ? {} : { library_models: libraryModels }),
  };
}

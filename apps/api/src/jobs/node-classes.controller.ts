import { Controller } from '@nestjs/common';
import type { InputSpec, NodeClass, NodeClassView, NodeInputView } from '@millrace/contracts';
import { Serves, type AnswerOf, type InputOf } from '../endpoints';
import { Destinations } from './destinations';
import { listNodeClasses } from './node-classes.endpoints';

/** What graphs can be made of, for editors and forms. */
@Controller()
export class NodeClassesController {
  constructor(private readonly destinations: Destinations) {}

  @Serves(listNodeClasses)
  async list({ visitor }: InputOf<typeof listNodeClasses>): Promise<AnswerOf<typeof listNodeClasses>> {
    const { catalogue } = await this.destinations.of(visitor.surface);
    const classes = Object.entries(catalogue).map(([name, nodeClass]) => [name, presentClass(nodeClass)]);
    return { node_classes: Object.fromEntries(classes) as Record<string, NodeClassView> };
  }
}

function presentClass({ displayName, outputNode, acceptsUnknownInputs, inputs, ...rest }: NodeClass): NodeClassView {
  return {
    display_name: displayName,
    ...rest,
    inputs: Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, presentInput(input)])),
    output_node: outputNode,
    ...(acceptsUnknownInputs === undefined ? {} : { accepts_unknown_inputs: acceptsUnknownInputs }),
  };
}

function presentInput({ linkOnly, ...rest }: InputSpec): NodeInputView {
  return linkOnly === undefined ? rest : { ...rest, link_only: linkOnly };
}

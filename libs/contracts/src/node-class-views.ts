import { z } from 'zod';
import { InputSpecSchema, OutputSpecSchema } from './node-catalogue';

const { type, required, min, max, default: value, options, multiple, multiline, file, tooltip } = InputSpecSchema.shape;

/** An input of a node class on the wire. */
const InputViewSchema = z
  .object({
    type: type.meta({
      description: '`INT`, `FLOAT`, `STRING`, `BOOLEAN`, `COMBO`, or the name of a type that only a link can carry.',
    }),
    required,
    min: min.meta({ description: 'As text: seeds have 64 bits.' }),
    max,
    default: value,
    options: options.meta({ description: 'What a `COMBO` accepts; absent where the engine does not publish it.' }),
    multiple,
    multiline,
    file: file.meta({ description: 'The value is a file of this kind: an asset reference is expected.' }),
    link_only: z.boolean().optional(),
    library_models: z.boolean().optional().meta({
      description:
        "True where names of models in the account's library, or shared with it, are accepted besides the options.",
    }),
    library_options: z.array(z.string()).optional().meta({
      description:
        'Those of the options that are models of the library: the account has them, or they are shared with it.',
    }),
    tooltip,
  })
  .meta({ id: 'NodeInput' });

const NodeClassViewSchema = z
  .object({
    display_name: z.string(),
    category: z.string(),
    description: z.string(),
    inputs: z
      .record(z.string(), InputViewSchema)
      .meta({ description: 'In the order in which the node declares them.' }),
    outputs: z.array(OutputSpecSchema),
    output_node: z.boolean().meta({ description: 'A run computes it and what it depends on.' }),
    accepts_unknown_inputs: z.boolean().optional(),
    deterministic: z.boolean().optional().meta({
      description:
        'True where equal inputs make equal outputs; only jobs whose nodes all declare it are answered with earlier outputs.',
    }),
  })
  .meta({ id: 'NodeClass' });

export const NodeClassesSchema = z
  .object({ node_classes: z.record(z.string(), NodeClassViewSchema) })
  .meta({ id: 'NodeClasses', description: 'The node classes that graphs can be made of here, by name.' });
export type NodeClasses = z.infer<typeof NodeClassesSchema>;
export type NodeClassView = z.infer<typeof NodeClassViewSchema>;
export type NodeInputView = z.infer<typeof InputViewSchema>;

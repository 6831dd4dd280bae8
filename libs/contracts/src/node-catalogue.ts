import { z } from 'zod';

/**
 * What one input of a node class accepts.
 *
 * `type` is `INT`, `FLOAT`, `STRING`, `BOOLEAN`, `COMBO`, or the name of a type that only a link can carry (`IMAGE`);
 * `*` accepts anything, and a comma separates alternatives. Bounds are decimal text, because seeds reach
 * 18446744073709551615 and a double does not.
 */
export const InputSpecSchema = z.object({
  type: z.string(),
  required: z.boolean(),
  min: z.string().optional(),
  max: z.string().optional(),
  default: z.unknown().optional(),
  /** COMBO: the accepted values. Absent when the engine does not publish its list. */
  options: z.array(z.union([z.string(), z.number(), z.boolean()])).optional(),
  multiple: z.boolean().optional(),
  multiline: z.boolean().optional(),
  /** The value names an input file of this kind: an asset reference is expected here. */
  file: z.enum(['image', 'video', 'audio', 'latent', 'any']).optional(),
  /** True where only a link is accepted, for any type. */
  linkOnly: z.boolean().optional(),
  /** True where names of models in the account's library are accepted besides the options: workers fetch them. */
  libraryModels: z.boolean().optional(),
  tooltip: z.string().optional(),
});
export type InputSpec = z.infer<typeof InputSpecSchema>;

export const OutputSpecSchema = z.object({ type: z.string(), name: z.string(), list: z.boolean() });
export type OutputSpec = z.infer<typeof OutputSpecSchema>;

export const NodeClassSchema = z.object({
  displayName: z.string(),
  category: z.string(),
  description: z.string(),
  /** In the order in which the node declares them. */
  inputs: z.record(z.string(), InputSpecSchema),
  outputs: z.array(OutputSpecSchema),
  /** An output node: a run computes it and its ancestors. */
  outputNode: z.boolean(),
  /** Input names beyond `inputs` are accepted if they match (autogrow and dynamic inputs of newer node packs). */
  acceptsUnknownInputs: z.boolean().optional(),
  /** True where equal inputs make equal outputs, by the engine's own declaration. Absent: not known. */
  deterministic: z.boolean().optional(),
});
export type NodeClass = z.infer<typeof NodeClassSchema>;

/** Node classes that a pool can run, by class name. */
export const NodeCatalogueSchema = z.record(z.string(), NodeClassSchema);
export type NodeCatalogue = z.infer<typeof NodeCatalogueSchema>;

import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { NodeClassView, NodeInputView } from '@millrace/contracts';
import { Destinations, presentNodeClass } from '../../jobs';
import type { Tool, ToolAnswer, ToolCall } from '../tool';

const MAX_CLASSES = 10;
/** Lists of model files have thousands. */
const MAX_OPTIONS = 100;

const definition = {
  name: 'describe_nodes',
  title: 'Describe node classes',
  description:
    'The inputs of node classes, with types, bounds, choices and defaults, and their outputs by number. Long lists of choices are cut; ' +
    'options_left_out says by how much, and options_like finds the others.',
  scope: 'jobs:read',
  input: z.object({
    class_types: z.array(z.string().max(200)).min(1).max(MAX_CLASSES).describe('Names as search_nodes answers them.'),
    options_like: z
      .string()
      .max(200)
      .optional()
      .describe('Only choices that contain this text, e.g. a part of a file name.'),
  }),
  annotations: { readOnlyHint: true },
} as const;

/** Describes node classes of the surface that the call came to. */
@Injectable()
export class DescribeNodesTool implements Tool<typeof definition> {
  readonly definition = definition;

  constructor(private readonly destinations: Destinations) {}

  async run(input: z.output<typeof definition.input>, { visitor }: ToolCall): Promise<ToolAnswer> {
    const { catalogue } = await this.destinations.of(visitor.surface, { wake: false });
    const known = input.class_types.flatMap((name) => {
      const nodeClass = Object.hasOwn(catalogue, name) ? catalogue[name] : undefined;
      return nodeClass === undefined
        ? []
        : [[name, shortened(presentNodeClass(nodeClass), input.options_like)] as const];
    });
    const names = new Set(known.map(([name]) => name));
    const unknown = input.class_types.filter((name) => !names.has(name));
    return { value: { node_classes: Object.fromEntries(known), unknown } };
  }
}

function shortened({ inputs, ...rest }: NodeClassView, like: string | undefined): object {
  const short = Object.entries(inputs).map(([name, input]) => [name, withFewOptions(input, like)]);
  return { ...rest, inputs: Object.fromEntries(short) as object };
}

function withFewOptions({ options, ...rest }: NodeInputView, like = ''): object {
  if (options === undefined) return rest;
  const wanted = options.filter((option) => String(option).toLowerCase().includes(like.toLowerCase()));
  const kept = wanted.slice(0, MAX_OPTIONS);
  const leftOut = options.length - kept.length;
  return { ...rest, options: kept, ...(leftOut > 0 ? { options_left_out: leftOut } : {}) };
}

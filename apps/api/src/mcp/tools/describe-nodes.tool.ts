import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { NodeClassView, NodeInputView } from '@millrace/contracts';
import { Turns } from '@millrace/platform';
import { ShownNodeClasses } from '../../jobs';
import type { Tool, ToolAnswer, ToolCall } from '../tool';

const MAX_CLASSES = 10;
/** Lists of model files have thousands. */
const MAX_OPTIONS = 100;

const definition = {
  name: 'describe_nodes',
  title: 'Describe node classes',
  description:
    'The inputs of node classes, with types, bounds, choices and defaults, and their outputs by number. Long lists of choices are cut; ' +
    'options_left_out says by how much, and options_like finds the others. library_options are those choices that are models of the ' +
    "account's library, or shared with it.",
  scope: 'jobs:read',
  input: z.strictObject({
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
  /** Of one account. One class may list a million choices. */
  private readonly turns = new Turns(1, 'descriptions of node classes');

  constructor(private readonly classes: ShownNodeClasses) {}

  async run(input: z.output<typeof definition.input>, { visitor }: ToolCall): Promise<ToolAnswer> {
    const { present } = await this.classes.of(visitor);
    const asked = [...new Set(input.class_types)];
    return this.turns.run(visitor.caller.accountId, () => {
      const known = asked.flatMap((name) => {
        const nodeClass = present(name);
        return nodeClass === undefined ? [] : [[name, shortened(nodeClass, input.options_like)] as const];
      });
      const names = new Set(known.map(([name]) => name));
      const unknown = asked.filter((name) => !names.has(name));
      return Promise.resolve({ value: { node_classes: Object.fromEntries(known), unknown } });
    });
  }
}

function shortened({ inputs, ...rest }: NodeClassView, like: string | undefined): object {
  const short = Object.entries(inputs).map(([name, input]) => [name, withFewOptions(input, like)]);
  return { ...rest, inputs: Object.fromEntries(short) as object };
}

/** What is of the library comes first, so that it is not what is left out. */
function withFewOptions({ options, library_options: ofLibrary = [], ...rest }: NodeInputView, like = ''): object {
  if (options === undefined) return rest;
  const own = new Set<unknown>(ofLibrary);
  const wanted = [
    ...options.filter((option) => own.has(option)),
    ...options.filter((option) => !own.has(option)),
  ].filter((option) => String(option).toLowerCase().includes(like.toLowerCase()));
  const kept = wanted.slice(0, MAX_OPTIONS);
  const leftOut = wanted.length - kept.length;
  const keptOfLibrary = kept.filter((option) => own.has(option));
  return {
    ...rest,
    options: kept,
    ...(keptOfLibrary.length > 0 ? { library_options: keptOfLibrary } : {}),
    ...(leftOut > 0 ? { options_left_out: leftOut } : {}),
  };
}

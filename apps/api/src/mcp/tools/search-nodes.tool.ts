import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { beginningOf } from '@millrace/contracts';
import { Destinations } from '../../jobs';
import { NodeSearch, type FoundNode } from '../node-search';
import type { Tool, ToolAnswer, ToolCall } from '../tool';

const MAX_FOUND = 50;
const DESCRIPTION_CHARACTERS = 300;

const definition = {
  name: 'search_nodes',
  title: 'Search the node catalogue',
  description:
    'Find node classes that graphs can use here, by words in their name, their category, their description, or the types that they ' +
    'take and give (IMAGE, LATENT, MODEL ...). Answers with names and one line each; describe_nodes has the inputs.',
  scope: 'jobs:read',
  input: z.strictObject({
    query: z.string().max(200).default('').describe('Words that must all occur; empty for everything.'),
    limit: z.int().min(1).max(MAX_FOUND).default(20).describe('How many classes to answer with.'),
  }),
  annotations: { readOnlyHint: true },
} as const;

/** Searches the catalogue of the surface that the call came to. */
@Injectable()
export class SearchNodesTool implements Tool<typeof definition> {
  readonly definition = definition;

  constructor(
    private readonly destinations: Destinations,
    private readonly search: NodeSearch,
  ) {}

  async run({ query, limit }: z.output<typeof definition.input>, { visitor }: ToolCall): Promise<ToolAnswer> {
    const { catalogue } = await this.destinations.of(visitor.surface, { purpose: 'reading' });
    const found = await this.search.find(visitor.caller.accountId, catalogue, query);
    return { value: { node_classes: found.slice(0, limit).map(presentFound), found: found.length } };
  }
}

function presentFound({ name, nodeClass }: FoundNode): object {
  const { displayName, category, description, outputs, outputNode } = nodeClass;
  return {
    class_type: name,
    display_name: displayName,
    category,
    description: beginningOf(description, DESCRIPTION_CHARACTERS),
    gives: outputs.map(({ type }) => type),
    output_node: outputNode,
  };
}

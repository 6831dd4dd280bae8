import { z } from 'zod';

/** A job's graph as it was submitted; `format` says that it can be submitted again as it is. */
export const JobWorkflowSchema = z
  .object({
    workflow: z
      .record(z.string(), z.unknown())
      .meta({ description: 'The graph, character for character as it was submitted.' }),
    format: z.literal('api'),
  })
  .meta({ id: 'JobWorkflow', description: 'The graph of a job. Never contains `extra_data`.' });

/** How far a node of an attempt came. */
const NODE_STATES = ['done', 'cached', 'running', 'failed'] as const;

export const JobNodesSchema = z
  .object({
    nodes: z.array(
      z.object({
        node_id: z.string(),
        class_type: z.string(),
        state: z.enum(NODE_STATES),
        ms: z.int().nullable().meta({ description: 'Milliseconds that the node took; null when it never ended.' }),
      }),
    ),
  })
  .meta({ id: 'JobNodes', description: 'Times of the nodes of the last attempt; empty until it has ended.' });
export type JobNodes = z.infer<typeof JobNodesSchema>;

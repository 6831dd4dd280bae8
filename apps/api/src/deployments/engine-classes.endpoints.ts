import { z } from 'zod';
import { ENGINE_KINDS } from '@millrace/deployments';
import { defineEndpoint } from '../endpoints';

const EngineClassSchema = z
  .object({
    name: z.string().meta({ description: 'The `engine_class` of a deployment.' }),
    title: z.string(),
    description: z.string(),
    engine: z.enum(ENGINE_KINDS),
    gpu: z.object({ kind: z.string(), count: z.int() }).nullable().meta({ description: 'GPUs of each worker.' }),
    memory: z.string().nullable().meta({ description: 'Memory of each worker, e.g. `16Gi`.' }),
    start_seconds: z.int().meta({ description: 'How long a worker may take from its start until it is ready.' }),
    price_micros_per_second: z.int().meta({ description: 'Micro-credits for a second of engine time.' }),
    reach: z.array(z.string()).meta({ description: 'What its workers may reach beside the service.' }),
    node_packs: z.array(z.string()).meta({ description: 'Packs of nodes that its workers have.' }),
  })
  .meta({ id: 'EngineClass', description: 'What a deployment can run on.' });

export const listEngineClasses = defineEndpoint({
  id: 'listEngineClasses',
  method: 'get',
  path: '/platform/v1/engine-classes',
  tag: 'deployments',
  access: { by: 'api_key', scope: 'jobs:read' },
  summary: 'List engine classes',
  description: 'What deployments can run on, with what each costs, by name.',
  answers: {
    200: {
      description: 'The classes.',
      schema: z
        .object({ engine_classes: z.array(EngineClassSchema) })
        .meta({ id: 'EngineClassList', description: 'All classes that the operator offers.' }),
    },
  },
});

import { z } from 'zod';
import { defineEndpoint } from '../endpoints';

const count = z.int().min(0);

const QueueSchema = z
  .object({
    pool: z.string(),
    waiting: count.meta({ description: 'Jobs that wait their turn.' }),
    dispatched: count.meta({ description: 'Jobs on their way to a worker.' }),
    running: count.meta({ description: 'Jobs that a worker has.' }),
    oldest_seconds: z.number().min(0).meta({
      description:
        'How long the job has waited that has waited longest for a worker; 0 when none waits. Jobs of an account at its running limit wait for others of its own, and do not count.',
    }),
    stopped: z.boolean().meta({ description: "The pool's deployment is stopped: no more jobs are started." }),
  })
  .meta({ id: 'Queue', description: 'The queue of a pool.' });

const QueueListSchema = z
  .object({ queues: z.array(QueueSchema) })
  .meta({ id: 'QueueList', description: 'The queues of all pools.' });

export const listQueues = defineEndpoint({
  id: 'listQueues',
  method: 'get',
  path: '/admin/v1/queues',
  tag: 'queues',
  access: { by: 'operator', role: 'viewer' },
  summary: 'List queues',
  description: 'How much work each pool has, read from PostgreSQL at this moment.',
  answers: { 200: { description: 'The queues.', schema: QueueListSchema } },
});

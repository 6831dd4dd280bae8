import { Controller, Inject } from '@nestjs/common';
import { z } from 'zod';
import { AccountQueues } from '@millrace/jobs';
import { Serves, defineEndpoint } from '../endpoints/endpoint';
import { AdminDoor, type AdminInput } from '../endpoints/admin-door';

const count = z.int().min(0);

const QueueSchema = z
  .object({
    pool: z.string(),
    waiting: count.meta({ description: 'Jobs that wait their turn.' }),
    dispatched: count.meta({ description: 'Jobs on their way to a worker.' }),
    running: count.meta({ description: 'Jobs that a worker has.' }),
    oldest_seconds: z
      .number()
      .min(0)
      .meta({ description: 'How long the first job in line has waited; 0 when none waits.' }),
    stopped: z.boolean().meta({ description: "The pool's deployment is stopped: nothing more is started." }),
  })
  .meta({ id: 'Queue', description: 'The queue of a pool.' });

const QueueListSchema = z
  .object({ queues: z.array(QueueSchema) })
  .meta({ id: 'QueueList', description: 'The queues of all pools.' });

const listQueues = defineEndpoint({
  id: 'listQueues',
  method: 'get',
  path: '/admin/v1/queues',
  tag: 'queues',
  summary: 'List queues',
  description: 'How much work each pool has, read from PostgreSQL at this moment.',
  answer: { status: 200, description: 'The queues.', schema: QueueListSchema },
});

/** Queues, as operators look at them. */
@Controller()
export class QueuesAdminController {
  constructor(
    @Inject(AdminDoor) readonly door: AdminDoor,
    @Inject(AccountQueues) private readonly queues: AccountQueues,
  ) {}

  @Serves(listQueues)
  async list(_: AdminInput<typeof listQueues>): Promise<object> {
    const queues = (await this.queues.depths()).map((depth) => ({
      pool: depth.poolId,
      waiting: depth.waiting,
      dispatched: depth.dispatched,
      running: depth.leased,
      oldest_seconds: Math.max(0, depth.oldestSeconds),
      stopped: depth.stopped,
    }));
    return { queues };
  }
}

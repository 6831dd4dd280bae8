import { Controller } from '@nestjs/common';
import { AccountQueues } from '@millrace/jobs';
import { Serves, type AnswerOf, type InputOf } from '../endpoints';
import { listQueues } from './queues.endpoints';

/** The queues of all pools. */
@Controller()
export class QueuesController {
  constructor(private readonly queues: AccountQueues) {}

  @Serves(listQueues)
  async list(_input: InputOf<typeof listQueues>): Promise<AnswerOf<typeof listQueues>> {
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

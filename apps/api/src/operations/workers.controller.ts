import { Controller } from '@nestjs/common';
import { AuditLog } from '@millrace/accounts';
import { Refusal } from '@millrace/contracts';
import { Database } from '@millrace/database';
import { WorkerStore, type WorkerRecord } from '@millrace/deployments';
import { Serves, type AnswerOf, type InputOf } from '../endpoints';
import { drainWorker, listWorkers } from './workers.endpoints';

/** Workers, as operators manage them. */
@Controller()
export class WorkersController {
  constructor(
    private readonly audit: AuditLog,
    private readonly database: Database,
    private readonly workers: WorkerStore,
  ) {}

  @Serves(listWorkers)
  async list({ query }: InputOf<typeof listWorkers>): Promise<AnswerOf<typeof listWorkers>> {
    const filter = { poolId: query.pool ?? null, withStopped: query.stopped === 'true' };
    return { workers: (await this.workers.list(this.database, filter)).map(presentWorker) };
  }

  @Serves(drainWorker)
  async drain({ operator, params }: InputOf<typeof drainWorker>): Promise<AnswerOf<typeof drainWorker>> {
    return this.audit.record(operator, async (tx, note) => {
      const worker = await this.workers.drain(tx, params.id);
      if (worker === null) throw new Refusal('not_found', `There is no live worker ${params.id}.`);
      const act = { action: 'worker.drain', subjectType: 'worker', subjectId: worker.id, accountId: null };
      note({ ...act, details: { pool: worker.poolId } });
      return presentWorker(worker);
    });
  }
}

function presentWorker(worker: WorkerRecord): AnswerOf<typeof drainWorker> {
  return {
    id: worker.id,
    pool: worker.poolId,
    engine: worker.engine,
    version: worker.version,
    host: worker.host,
    pid: worker.pid,
    state: worker.state,
    capacity: worker.capacity,
    resident_models: worker.residentModels,
    problem: worker.problem,
    started_at: worker.startedAt.toISOString(),
    last_seen_at: worker.lastSeenAt.toISOString(),
    stopped_at: worker.stoppedAt?.toISOString() ?? null,
  };
}

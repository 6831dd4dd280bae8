import { Controller } from '@nestjs/common';
import { AuditLog, type Operator } from '@millrace/accounts';
import { Refusal } from '@millrace/contracts';
import { Database } from '@millrace/database';
import { WorkerStore, type WorkerRecord } from '@millrace/deployments';
import { JobHistories } from '@millrace/jobs';
import { Serves, type AnswerOf, type InputOf } from '../endpoints';
import { drainWorker, listWorkers, undrainWorker } from './workers.endpoints';

/** Workers, as operators manage them. */
@Controller()
export class WorkersController {
  constructor(
    private readonly audit: AuditLog,
    private readonly database: Database,
    private readonly workers: WorkerStore,
    private readonly jobs: JobHistories,
  ) {}

  @Serves(listWorkers)
  async list({ query }: InputOf<typeof listWorkers>): Promise<AnswerOf<typeof listWorkers>> {
    const filter = { poolId: query.pool ?? null, withStopped: query.stopped === 'true' };
    const [workers, running] = await Promise.all([this.workers.list(this.database, filter), this.jobs.running()]);
    return { workers: workers.map((worker) => presentWorker(worker, running)) };
  }

  @Serves(drainWorker)
  async drain({ operator, params }: InputOf<typeof drainWorker>): Promise<AnswerOf<typeof drainWorker>> {
    return this.turn(operator, params.id, 'drain');
  }

  @Serves(undrainWorker)
  async undrain({ operator, params }: InputOf<typeof undrainWorker>): Promise<AnswerOf<typeof undrainWorker>> {
    return this.turn(operator, params.id, 'undrain');
  }

  private async turn(operator: Operator, id: string, verb: 'drain' | 'undrain'): Promise<AnswerOf<typeof drainWorker>> {
    const worker = await this.audit.record(operator, async (tx, note) => {
      const turned = await this.workers[verb](tx, id);
      if (turned === null) throw new Refusal('not_found', `There is no live worker ${id}.`);
      const act = { action: `worker.${verb}`, subjectType: 'worker', subjectId: turned.id, accountId: null };
      note({ ...act, details: { pool: turned.poolId } });
      return turned;
    });
    return presentWorker(worker, await this.jobs.running());
  }
}

/** @param running the jobs of each worker, by its id. */
function presentWorker(worker: WorkerRecord, running: Map<string, string[]>): AnswerOf<typeof drainWorker> {
  return {
    id: worker.id,
    pool: worker.poolId,
    engine: worker.engine,
    version: worker.version,
    host: worker.host,
    pid: worker.pid,
    state: worker.state,
    capacity: worker.capacity,
    running_jobs: running.get(worker.id) ?? [],
    resident_models: worker.residentModels,
    problem: worker.problem,
    started_at: worker.startedAt.toISOString(),
    last_seen_at: worker.lastSeenAt.toISOString(),
    stopped_at: worker.stoppedAt?.toISOString() ?? null,
  };
}

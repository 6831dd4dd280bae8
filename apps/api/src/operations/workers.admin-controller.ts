import { Controller, Inject } from '@nestjs/common';
import { z } from 'zod';
import { AuditLog } from '@millrace/accounts';
import { Refusal, TimestampSchema } from '@millrace/contracts';
import { Database } from '@millrace/database';
import { SEEN_WORKER_STATES, WORKER_SILENCE_SECONDS, WorkerStore, type WorkerRecord } from '@millrace/deployments';
import { Serves, defineEndpoint } from '../endpoints/endpoint';
import { AdminDoor, type AdminInput } from '../endpoints/admin-door';

const tag = 'workers';

const WorkerSchema = z
  .object({
    id: z.uuid(),
    pool: z.string(),
    engine: z.string(),
    version: z.string(),
    host: z.string(),
    pid: z.int(),
    state: z.enum(SEEN_WORKER_STATES).meta({
      description:
        `\`lost\`: not heard of for ${WORKER_SILENCE_SECONDS} s, or gone, without having said so; it is given no more ` +
        'jobs, and those that it had are run elsewhere. It is back with its next word.',
    }),
    capacity: z.int().meta({ description: 'Attempts that it runs at once.' }),
    resident_models: z.array(z.string()).meta({ description: 'Models that it has loaded.' }),
    problem: z.string().nullable().meta({ description: 'Why it is not ready.' }),
    started_at: TimestampSchema,
    last_seen_at: TimestampSchema.meta({
      description: 'Its last word; while it lives it gives one every few seconds.',
    }),
    stopped_at: TimestampSchema.nullable(),
  })
  .meta({ id: 'Worker', description: 'A worker process.' });

const WorkerListSchema = z
  .object({ workers: z.array(WorkerSchema) })
  .meta({ id: 'WorkerList', description: 'Workers, the newest first.' });

const listWorkers = defineEndpoint({
  id: 'listWorkers',
  method: 'get',
  path: '/admin/v1/workers',
  tag,
  summary: 'List workers',
  description:
    'Those that live, and those that fell silent within the last minute; where they are asked for, also those that have ' +
    'stopped or were given up for lost, for about a day.',
  query: z.object({
    pool: z.string().max(200).optional().meta({ description: 'Only workers of this pool.' }),
    stopped: z
      .enum(['true', 'false'])
      .default('false')
      .meta({ description: '`true`: also those that have stopped or were given up for lost.' }),
  }),
  answer: { status: 200, description: 'The workers.', schema: WorkerListSchema },
});

const drainWorker = defineEndpoint({
  id: 'drainWorker',
  method: 'post',
  path: '/admin/v1/workers/{id}/drain',
  tag,
  summary: 'Drain a worker',
  description: 'It finishes what it runs and takes nothing more. Draining twice is draining once.',
  answer: { status: 200, description: 'The worker.', schema: WorkerSchema },
});

/** Workers, as operators manage them. */
@Controller()
export class WorkersAdminController {
  constructor(
    @Inject(AdminDoor) readonly door: AdminDoor,
    @Inject(AuditLog) private readonly audit: AuditLog,
    @Inject(Database) private readonly database: Database,
    @Inject(WorkerStore) private readonly workers: WorkerStore,
  ) {}

  @Serves(listWorkers)
  async list({ query }: AdminInput<typeof listWorkers>): Promise<object> {
    const filter = { poolId: query.pool ?? null, withStopped: query.stopped === 'true' };
    return { workers: (await this.workers.list(this.database, filter)).map(presentWorker) };
  }

  @Serves(drainWorker)
  async drain({ operator, params }: AdminInput<typeof drainWorker>): Promise<object> {
    return this.audit.record(operator, async (tx, note) => {
      const worker = await this.workers.drain(tx, params.id);
      if (worker === null) throw new Refusal('not_found', `There is no live worker ${params.id}.`);
      const act = { action: 'worker.drain', subjectType: 'worker', subjectId: worker.id, accountId: null };
      note({ ...act, details: { pool: worker.poolId } });
      return presentWorker(worker);
    });
  }
}

function presentWorker(worker: WorkerRecord): object {
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

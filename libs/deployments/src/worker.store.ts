import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';

export const WORKER_STATES = ['starting', 'ready', 'draining', 'stopped'] as const;
export type WorkerState = (typeof WORKER_STATES)[number];

/** A worker that has not been heard of for this long is not counted on. */
export const WORKER_SILENCE_SECONDS = 15;

export interface WorkerRegistration {
  id: string;
  poolId: string;
  engine: string;
  version: string;
  host: string;
  pid: number;
  capacity: number;
}

export interface WorkerReport {
  state: WorkerState;
  residentModels: string[];
  /** Why it is not ready, for an operator. */
  problem: string | null;
}

/** The SQL of workers. */
export class WorkerStore {
  async register(tx: Statements, worker: WorkerRegistration): Promise<void> {
    await tx.models.worker.create({ data: worker });
  }

  /**
   * Say that a worker lives and how it is. A draining worker stays draining whatever it reports.
   *
   * @returns the state that holds now; null when the worker is not registered.
   */
  async heartbeat(tx: Statements, id: string, report: WorkerReport): Promise<WorkerState | null> {
    const [row] = await tx.query<{ state: WorkerState }>(Prisma.sql`
      UPDATE workers SET last_seen_at = now(), resident_models = ${report.residentModels}, problem = ${report.problem},
        state = CASE WHEN state = 'draining' AND ${report.state} <> 'stopped' THEN 'draining' ELSE ${report.state} END,
        stopped_at = CASE WHEN ${report.state} = 'stopped' THEN now() END
      WHERE id = ${id}::uuid AND state <> 'stopped'
      RETURNING state`);
    return row?.state ?? null;
  }

  /** How many attempts the pool's live, ready workers can run at once. */
  async capacity(tx: Statements, poolId: string): Promise<number> {
    const [row] = await tx.query<{ capacity: number }>(Prisma.sql`
      SELECT coalesce(sum(capacity), 0)::int AS capacity FROM workers
      WHERE pool_id = ${poolId} AND state = 'ready' AND state <> 'stopped'
        AND last_seen_at > now() - make_interval(secs => ${WORKER_SILENCE_SECONDS})`);
    return row?.capacity ?? 0;
  }

  /** Mark workers stopped that went without a word, `limit` at most. @returns how many. */
  async retireSilent(tx: Statements, afterSeconds: number, limit: number): Promise<number> {
    return tx.execute(Prisma.sql`
      UPDATE workers SET state = 'stopped', stopped_at = now() WHERE id IN (
        SELECT id FROM workers WHERE state <> 'stopped' AND last_seen_at < now() - make_interval(secs => ${afterSeconds})
        LIMIT ${limit} FOR UPDATE SKIP LOCKED)`);
  }
}

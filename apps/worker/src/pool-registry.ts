import type { NodeCatalogue } from '@millrace/contracts';
import { ConstraintError, type Database } from '@millrace/database';
import {
  CatalogueStore,
  PoolStore,
  WorkerStartStore,
  WorkerStore,
  type PoolModels,
  type WarmUp,
  type WorkerRegistration,
  type WorkerReport,
  type WorkerState,
} from '@millrace/deployments';

/** Where a pool keeps what it knows of its workers. What does not reach it is thrown as an error that `isTransient`. */
export interface PoolRegistry {
  /** Have the pool be there, served by an engine of this kind. */
  ensurePool(poolId: string, engine: string): Promise<void>;
  /** Again is harmless. */
  register(worker: WorkerRegistration): Promise<void>;
  /** @returns the state that holds now; null when the worker is not known, or has reported its stop. */
  heartbeat(workerId: string, report: WorkerReport): Promise<WorkerState | null>;
  /** What a worker runs before it is ready, as it is now; null: nothing. */
  warmUp(poolId: string): Promise<WarmUp | null>;
  /** Models that a worker has before it is ready, as they are named now; null: none. */
  models(poolId: string): Promise<PoolModels | null>;
  /** Make a catalogue the pool's. @returns its digest. */
  publish(poolId: string, engine: string, catalogue: NodeCatalogue): Promise<string>;
}

/** The registry of a worker that reaches PostgreSQL. */
export class DatabaseRegistry implements PoolRegistry {
  private readonly pools = new PoolStore();
  private readonly workers = new WorkerStore();
  private readonly starts = new WorkerStartStore();
  private readonly catalogues = new CatalogueStore();

  constructor(private readonly database: Database) {}

  ensurePool(poolId: string, engine: string): Promise<void> {
    return this.pools.ensure(this.database, poolId, engine);
  }

  async register(worker: WorkerRegistration): Promise<void> {
    try {
      await this.workers.register(this.database, worker);
    } catch (error) {
      // An earlier try was recorded, and its answer was lost.
      if (!(error instanceof ConstraintError && error.kind === 'unique')) throw error;
    }
  }

  heartbeat(workerId: string, report: WorkerReport): Promise<WorkerState | null> {
    return this.workers.heartbeat(this.database, workerId, report);
  }

  warmUp(poolId: string): Promise<WarmUp | null> {
    return this.starts.warmUp(this.database, poolId);
  }

  models(poolId: string): Promise<PoolModels | null> {
    return this.starts.models(this.database, poolId);
  }

  publish(poolId: string, engine: string, catalogue: NodeCatalogue): Promise<string> {
    return this.catalogues.publish(this.database, poolId, engine, catalogue);
  }
}

import { newId, Refusal } from '@millrace/contracts';
import type { Database, Statements } from '@millrace/database';
import type { PoolStore } from '../pool.store';
import { WORKER_SILENCE_SECONDS, type WorkerRegistration } from '../worker.store';
import { makeWorkerToken, workerTokenHash, type WorkerTokenHolder, type WorkerTokenRecord } from './worker-token';
import type { WorkerTokenStore } from './worker-token.store';

/** A new token. It is shown once. */
export interface IssuedWorkerToken {
  record: WorkerTokenRecord;
  token: string;
}

/** Tokens with which workers outside the cluster join a pool, and what a worker of one may call its own. */
export class WorkerTokens {
  constructor(
    private readonly database: Database,
    private readonly store: WorkerTokenStore,
    private readonly pools: Pick<PoolStore, 'ensure' | 'find'>,
    /** The pool that a service has from its beginning; absent where no tokens are made. */
    private readonly sharedPool?: string,
  ) {}

  /**
   * Make a token of a pool, in the transaction that notes it in the audit log.
   *
   * @throws Refusal `not_found` when there is no such pool.
   */
  async issue(
    tx: Statements,
    poolId: string,
    { name, expiresAt }: { name: string; expiresAt: Date | null },
  ): Promise<IssuedWorkerToken> {
    // No worker may have joined it before, and none may be meant to but from outside.
    if (poolId === this.sharedPool && (await this.pools.find(tx, poolId)) === null) {
      await this.pools.ensure(tx, poolId, 'cpu');
    }
    const { token, hash } = makeWorkerToken();
    const record = await this.store.insert(tx, { id: newId(), poolId, name, hash, expiresAt });
    if (record === null) throw noPool(poolId);
    return { record, token };
  }

  /** @throws Refusal `not_found` when there is no such pool. */
  async list(poolId: string): Promise<WorkerTokenRecord[]> {
    if ((await this.pools.find(this.database, poolId)) === null) throw noPool(poolId);
    return this.store.list(this.database, poolId);
  }

  /** Refuse everything that shows the token, from now on. @throws Refusal `not_found`. */
  async revoke(tx: Statements, poolId: string, id: string): Promise<WorkerTokenRecord> {
    const revoked = await this.store.revoke(tx, poolId, id);
    if (revoked === null) throw new Refusal('not_found', `The pool ${poolId} has no token ${id}.`);
    return revoked;
  }

  /** @returns who shows the token; null when it is none, has expired or was revoked. */
  async holderOf(token: string): Promise<WorkerTokenHolder | null> {
    const hash = workerTokenHash(token);
    return hash === null ? null : this.store.find(this.database, hash);
  }

  /** Let a worker join the pool of its token; again is harmless. @throws Refusal `forbidden` when the token has `limit` live workers. */
  async join(holder: WorkerTokenHolder, limit: number, worker: Omit<WorkerRegistration, 'poolId'>): Promise<void> {
    const registration = { ...worker, poolId: holder.poolId };
    const joined = await this.database.transaction(async (tx) => {
      if (!(await this.store.register(tx, holder.tokenId, limit, registration))) return false;
      await this.pools.ensure(tx, holder.poolId, worker.engine);
      return true;
    });
    if (!joined) throw tooManyWorkers(limit);
  }

  /**
   * Record a report of a worker. One that was silent is live again with it, where its token has room beside its other live workers.
   *
   * @param record writes the report: with `onlyLive` of a worker that is live now, and of no other. Null: it wrote nothing.
   * @throws Refusal `forbidden` for a worker that did not join with this token, or that comes back while it has `limit` live workers.
   */
  async report<T>(
    holder: WorkerTokenHolder,
    limit: number,
    workerId: string,
    record: (tx: Statements, options: { onlyLive: boolean }) => Promise<T | null>,
  ): Promise<T | null> {
    await this.assertWorker(holder, workerId);
    const recorded = await record(this.database, { onlyLive: true });
    if (recorded !== null) return recorded;
    return this.database.transaction(async (tx) => {
      if (!(await this.store.hasRoomFor(tx, holder, limit, workerId))) throw tooManyWorkers(limit);
      return record(tx, { onlyLive: false });
    });
  }

  /** @throws Refusal `forbidden` for a worker that did not join with this token. */
  async assertWorker(holder: WorkerTokenHolder, workerId: string): Promise<void> {
    if ((await this.store.isLive(this.database, holder, workerId)) === null) throw notJoined(workerId);
  }

  /**
   * Let a worker ask for work: of those that may, a token has as many as its limit says.
   *
   * @throws Refusal `forbidden` for a worker that did not join with this token, has stopped, or has not reported lately.
   */
  async assertLiveWorker(holder: WorkerTokenHolder, workerId: string): Promise<void> {
    const isLive = await this.store.isLive(this.database, holder, workerId);
    if (isLive === null) throw notJoined(workerId);
    if (isLive) return;
    throw new Refusal(
      'forbidden',
      `The worker ${workerId} has stopped, or has not reported for ${WORKER_SILENCE_SECONDS} seconds: ` +
        'one that runs reports first, one that was started again registers with another id.',
    );
  }
}

function tooManyWorkers(limit: number): Refusal {
  return new Refusal(
    'forbidden',
    `This token has ${limit} workers, which is all that it may have. Stop one, or ask the operator for another token.`,
  );
}

function notJoined(workerId: string): Refusal {
  const details = { not_joined: true };
  return new Refusal('forbidden', `The worker ${workerId} did not join with this token; register it first.`, {
    details,
  });
}

function noPool(poolId: string): Refusal {
  return new Refusal(
    'not_found',
    `There is no pool ${poolId.slice(0, 64)}; it is made when its first worker or deployment is.`,
  );
}

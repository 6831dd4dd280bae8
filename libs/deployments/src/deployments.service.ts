import { Refusal, isUuid } from '@millrace/contracts';
import { decodeCursor, pageOf, type Page, type Statements } from '@millrace/database';
import { BoundedMap, LoadingCache, Turns } from '@millrace/platform';
import type { Deployment, DeploymentDraft } from './deployment';
import type { DeploymentStore } from './deployment.store';

/** How old the reading of a deployment may be that a request is answered by. */
const DEPLOYMENT_TTL_MS = 1_000;
const REFRESH_AFTER_MS = 700;
/** More than are asked for within a second. */
const CACHED_DEPLOYMENTS = 1_000;
const FOUND_DEPLOYMENTS = 10_000;
const CURSOR = 'operated-deployments';
/** Of one account: a list reads past all deployments that it ever deleted. */
const LISTS_AT_A_TIME = 1;

/**
 * Deployments, as operators manage them and requests find them. A change runs in the transaction of its administrative act;
 * the caller calls `forget` after the commit.
 */
export class DeploymentsService {
  private readonly cache: LoadingCache<Deployment | null>;
  /** Ids of deployments that were there when they were last looked for. */
  private readonly found = new BoundedMap<true>(FOUND_DEPLOYMENTS);
  private readonly turns = new Turns(LISTS_AT_A_TIME, 'lists of deployments');

  constructor(
    private readonly database: Statements,
    private readonly store: DeploymentStore,
  ) {
    this.cache = new LoadingCache({
      max: CACHED_DEPLOYMENTS,
      ttlMs: DEPLOYMENT_TTL_MS,
      refreshAfterMs: REFRESH_AFTER_MS,
      load: async (id) => this.note(id, await store.findWithJobs(database, id)),
      // An absence is not cached: a deployment is found as soon as it is created, by any process.
      ttlMsOf: (deployment) => (deployment === null ? 0 : DEPLOYMENT_TTL_MS),
    });
  }

  /** @throws Refusal `not_found` when there is no such account. */
  async create(tx: Statements, draft: DeploymentDraft): Promise<Deployment> {
    const id = isUuid(draft.accountId) ? await this.store.create(tx, draft) : null;
    if (id === null) throw new Refusal('not_found', `There is no account ${draft.accountId}.`);
    return this.known(tx, id);
  }

  /**
   * Start a deployment. It takes jobs as soon as a worker is ready; jobs that waited go on.
   *
   * @throws Refusal `not_found`.
   */
  async start(tx: Statements, id: string): Promise<{ deployment: Deployment; changed: boolean }> {
    return this.want(tx, id, 'running');
  }

  /**
   * Stop a deployment: it takes no more jobs and starts none. Running jobs run to their end.
   *
   * @throws Refusal `not_found`.
   */
  async stop(tx: Statements, id: string): Promise<{ deployment: Deployment; changed: boolean }> {
    return this.want(tx, id, 'stopped');
  }

  private async want(
    tx: Statements,
    id: string,
    desired: 'running' | 'stopped',
  ): Promise<{ deployment: Deployment; changed: boolean }> {
    const changed = isUuid(id) && (await this.store.setDesired(tx, id, desired));
    return { deployment: await this.known(tx, id), changed };
  }

  /** The deployments of an account, newest first. @throws Refusal `rate_limited`. */
  async list(accountId: string): Promise<Deployment[]> {
    return this.turns.run(accountId, () => this.store.list(this.database, accountId));
  }

  /** Deployments of all accounts, newest first. @throws Refusal `invalid_cursor`. */
  async listOfAll(page: { cursor: string | null; limit: number }): Promise<Page<Deployment>> {
    const before = page.cursor === null ? null : decodeCursor(CURSOR, page.cursor, isUuid);
    const rows = await this.store.listOfAll(this.database, before, page.limit + 1);
    return pageOf(CURSOR, rows, page.limit, ({ id }) => id);
  }

  /** A deployment of an account. @throws Refusal `not_found`. */
  async get(accountId: string, id: string): Promise<Deployment> {
    const deployment = isUuid(id) ? await this.store.find(this.database, id) : null;
    if (deployment === null || deployment.accountId !== accountId) throw noDeployment(id);
    return deployment;
  }

  /** A deployment of any account. @throws Refusal `not_found`. */
  async getOfAny(id: string): Promise<Deployment> {
    return this.known(this.database, id);
  }

  /** A deployment of any account, as it was at most a second ago; null when there is none. */
  async find(id: string): Promise<Deployment | null> {
    return unlessDeleted(await this.cache.get(id));
  }

  /**
   * As `find`, for who reads what belongs to jobs: a deleted deployment is there for them until its last job expires, since a job can be
   * read by its id that long (contract, section 1).
   */
  findForReads(id: string): Promise<Deployment | null> {
    return this.cache.get(id);
  }

  /** True when this process has found the deployment before: looking for it again is no guess. */
  wasFound(id: string): boolean {
    return this.found.has(id);
  }

  private note(id: string, deployment: Deployment | null): Deployment | null {
    if (deployment === null) this.found.delete(id);
    else this.found.set(id, true);
    return deployment;
  }

  /** A deployment of any account as it is now; null when there is none. */
  async findNow(id: string): Promise<Deployment | null> {
    return unlessDeleted(await this.cache.reload(id));
  }

  /** Read it again at the next request: this process changed it. */
  forget(id: string): void {
    this.cache.delete(id);
  }

  /** Record that a request wants a version without a ready worker. */
  async noteWanted({ id, poolId }: Pick<Deployment, 'id' | 'poolId'>): Promise<void> {
    await this.store.noteWanted(this.database, id, poolId);
  }

  /** A deployment of any account, in a transaction. @throws Refusal `not_found`. */
  async known(tx: Statements, id: string): Promise<Deployment> {
    const deployment = isUuid(id) ? await this.store.find(tx, id) : null;
    if (deployment === null) throw noDeployment(id);
    return deployment;
  }

  /**
   * A deployment of any account that nobody else changes, nor its versions, until this transaction ends: what is checked of it holds for what is
   * written then.
   *
   * @throws Refusal `not_found`.
   */
  async locked(tx: Statements, id: string): Promise<Deployment> {
    await this.known(tx, id);
    await this.store.lock(tx, id);
    return this.known(tx, id);
  }
}

function unlessDeleted(deployment: Deployment | null): Deployment | null {
  return deployment === null || deployment.deletedAt !== null ? null : deployment;
}

/** The one answer for a deployment that does not exist and for one of another account. */
export function noDeployment(id: string): Refusal {
  return new Refusal('not_found', `There is no deployment ${id} of this account.`);
}

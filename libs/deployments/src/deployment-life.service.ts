import { Refusal, type ModelName } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import type { CatalogueReader } from './catalogue-reader';
import type { Deployment, DeploymentChanges, DeploymentDraft } from './deployment';
import type { DeploymentLifeStore } from './deployment-life.store';
import { twoAreLive, type DeploymentVersionStore, type VersionDraft } from './versions';
import type { DeploymentsService } from './deployments.service';
import type { EngineClass } from './engine-class';
import type { EngineClassStore } from './engine-class.store';
import { warmUpText } from './starts';

/** What an account may have of deployments. Operators are not bound by it. */
export interface Allowance {
  deployments: number;
  workers: number;
}

/** A pool as it is to be. */
interface PlannedPool {
  maxWorkers: number;
  /** Null, or absent: a new one. */
  poolId?: string | null;
  /** It is that of a new deployment. */
  isDeployment?: boolean;
  /** By default; false: it is to have no more workers than it may have already. */
  raises?: boolean;
}

/** A deployment as it is ordered: its engine follows from its class. */
export type DeploymentOrder = Omit<DeploymentDraft, 'engine' | 'priceMicrosPerSecond' | 'warmUp'> & {
  /** A graph in API format that workers run before they are ready, as it came with a request; null: none. */
  /** JSON of a graph, as it was given. */
  warmUp: string | null;
  /** Null: the price of the class, else the platform's. */
  priceMicrosPerSecond: bigint | null;
  /** The engine itself, where an operator runs its workers without a catalogue of classes. */
  engine?: DeploymentDraft['engine'];
};

/** What is to be another way. An absent field stays as it is. */
export type DeploymentReorder = Omit<DeploymentChanges, 'engine' | 'warmUp'> & Partial<Pick<DeploymentOrder, 'warmUp'>>;

/**
 * How deployments come, change and go. What takes a transaction runs in that of the act which records it; the caller calls `forget` of the
 * deployments after the commit.
 */
export class DeploymentLife {
  constructor(
    private readonly database: Statements,
    private readonly deployments: DeploymentsService,
    private readonly store: DeploymentLifeStore,
    private readonly versions: DeploymentVersionStore,
    private readonly classes: EngineClassStore,
    private readonly catalogues: Pick<CatalogueReader, 'read'>,
    /** Jobs of a deployment that have not ended. */
    private readonly countJobs: (tx: Statements, deploymentId: string) => Promise<number>,
    /** Of models, those that the library of an account has not, or not yet. */
    private readonly lackingModels: (tx: Statements, accountId: string, models: ModelName[]) => Promise<ModelName[]>,
  ) {}

  /** The classes that deployments may run on now, by name. */
  async offeredClasses(): Promise<EngineClass[]> {
    return (await this.classes.list(this.database)).filter(({ retiredAt }) => retiredAt === null);
  }

  /**
   * @param allowance null for an operator.
   * @throws Refusal `invalid_request` for a class that is not offered and for each model that the library lacks, `deployment_limit`,
   * `not_found` for an unknown account; of `warmUpText`.
   */
  async create(tx: Statements, order: DeploymentOrder, allowance: Allowance | null): Promise<Deployment> {
    const { engine, priceMicrosPerSecond: price } = await this.termsOf(tx, order);
    const { accountId, maxWorkers } = order;
    if (allowance !== null) await this.assertWithin(tx, accountId, { maxWorkers, isDeployment: true }, allowance);
    await this.assertModels(tx, order.accountId, order.models);
    const priceMicrosPerSecond = order.priceMicrosPerSecond ?? price;
    const warmUp = order.warmUp === null ? null : warmUpText(order.warmUp, null);
    return this.deployments.create(tx, { ...order, engine, priceMicrosPerSecond, warmUp });
  }

  /**
   * An account pays the price of the class that it changes to. So that nothing of another class works at that price, it changes to a version of its own
   * with a pool of its own; the one before ends, and the caller has its jobs move on. An operator, who answers for the price, changes the class in place.
   *
   * @param changes as `checkedWarmUp` returns them.
   * @param allowance null for an operator.
   * @throws Refusal `invalid_request`, `deployment_limit`, `not_found`, `deployment_busy`.
   */
  async change(
    tx: Statements,
    id: string,
    changes: DeploymentReorder,
    allowance: Allowance | null,
  ): Promise<Deployment> {
    const before = await this.deployments.locked(tx, id);
    const { minWorkers, maxWorkers } = { ...before, ...defined(changes) };
    assertInOrder(minWorkers, maxWorkers);
    const engineClass = otherClass(changes, before);
    // Of the version that another class ends, the workers run on: with the next change they count.
    const raises = maxWorkers > before.maxWorkers;
    if (allowance !== null && (raises || engineClass !== undefined)) {
      await this.assertWithin(tx, before.accountId, { maxWorkers, poolId: before.poolId, raises }, allowance);
    }
    await this.assertModels(tx, before.accountId, changes.models);
    const terms = engineClass === undefined ? {} : await this.termsOf(tx, { engineClass });
    const priced = allowance === null ? { ...terms, priceMicrosPerSecond: changes.priceMicrosPerSecond } : terms;
    if (engineClass !== undefined && allowance !== null) await this.beginVersion(tx, before);
    await this.store.change(tx, id, { ...changes, engineClass, ...priced });
    return this.deployments.known(tx, id);
  }

  /** @throws Refusal `deployment_busy` where two versions are live: which of them stays is for the account to say. */
  private async beginVersion(tx: Statements, { id, poolId, beside }: Deployment): Promise<void> {
    if (beside !== null) throw twoAreLive(beside.version);
    const latest = await this.versions.latestNumber(tx, id, poolId);
    await this.versions.replaceOwn(tx, id, latest + 1);
  }

  /**
   * Delete a deployment, at once where it has no jobs.
   *
   * @param drain take no more jobs, and delete it when those that it has are over.
   * @throws Refusal `deployment_busy` while it has jobs, or one is being submitted, and is not to drain; `not_found`.
   */
  async remove(tx: Statements, id: string, drain: boolean): Promise<'deleted' | 'draining'> {
    await this.deployments.locked(tx, id);
    const isQuiet = await this.store.lockOutJobs(tx, id);
    const jobs = await this.countJobs(tx, id);
    const isFree = isQuiet && jobs === 0;
    if (!isFree && !drain) throw deploymentBusy(jobs);
    await this.store.drain(tx, id);
    if (!isFree) return 'draining';
    await this.store.remove(tx, id);
    return 'deleted';
  }

  /**
   * What a version of a deployment is made of that differs from the present one by these changes.
   *
   * @param changes as `checkedWarmUp` returns them.
   * @param allowance null for an operator. An account pays the price of the class that it names.
   * @throws Refusal as `change` does.
   */
  async versionDraft(
    tx: Statements,
    present: Deployment,
    changes: Omit<DeploymentReorder, 'name'>,
    allowance: Allowance | null,
  ): Promise<VersionDraft> {
    const { queueLimit, attemptLimitSeconds, minWorkers, maxWorkers, idleSeconds, models } = {
      ...present,
      ...defined(changes),
    };
    await this.assertModels(tx, present.accountId, changes.models);
    assertInOrder(minWorkers, maxWorkers);
    if (allowance !== null) await this.assertWithin(tx, present.accountId, { maxWorkers }, allowance);
    const other = otherClass(changes, present);
    const engineClass = other ?? present.engineClass;
    const terms =
      other === undefined
        ? { engine: present.engine as VersionDraft['engine'], priceMicrosPerSecond: present.priceMicrosPerSecond }
        : await this.termsOf(tx, { engineClass });
    const own = allowance === null ? changes.priceMicrosPerSecond : undefined;
    const priceMicrosPerSecond = own ?? terms.priceMicrosPerSecond;
    const scale = { queueLimit, attemptLimitSeconds, minWorkers, maxWorkers, idleSeconds, models };
    const warmUp = changes.warmUp === undefined ? present.warmUp : changes.warmUp;
    return { ...scale, engineClass, engine: terms.engine, priceMicrosPerSecond, warmUp };
  }

  /**
   * The graph of a warm-up as it is kept, once it is known that the workers can run it. Before the transaction of the change, which would hold one
   * connection while this reads the catalogue on another.
   *
   * @param changes of the deployment, or what its new version has otherwise.
   * @throws Refusal `not_found`; of `warmUpText`.
   */
  async checkedWarmUp<Changes extends Pick<DeploymentReorder, 'warmUp' | 'engineClass'>>(
    id: string,
    changes: Changes,
  ): Promise<Changes> {
    const { warmUp: graph } = changes;
    if (graph === undefined || graph === null) return changes;
    const { catalogueDigest, engineClass } = await this.deployments.known(this.database, id);
    // What workers of another class can run nobody knows yet.
    const digest = otherClass(changes, { engineClass }) === undefined ? catalogueDigest : null;
    return { ...changes, warmUp: warmUpText(graph, digest === null ? null : await this.catalogues.read(digest)) };
  }

  /** @throws Refusal `invalid_request` naming each model that the account has not. */
  private async assertModels(tx: Statements, accountId: string, models: ModelName[] = []): Promise<void> {
    const lacking = models.length === 0 ? [] : await this.lackingModels(tx, accountId, models);
    if (lacking.length === 0) return;
    const reason = (one: ModelName): string =>
      `the library of the account has no model ${one.folder}/${one.name} that is ready, of its own or shared`;
    throw Refusal.ofFields(lacking.map((one) => ({ field: `models.${models.indexOf(one)}`, reason: reason(one) })));
  }

  private async termsOf(
    tx: Statements,
    { engineClass, engine }: Pick<DeploymentOrder, 'engineClass' | 'engine'>,
  ): Promise<Pick<DeploymentDraft, 'engine' | 'priceMicrosPerSecond'>> {
    const found = await this.classes.find(tx, engineClass);
    if (found !== null && found.retiredAt === null) {
      const { priceMicrosPerSecond: price } = found;
      return { engine: found.engine, priceMicrosPerSecond: price === null ? null : BigInt(price) };
    }
    if (engine !== undefined) return { engine, priceMicrosPerSecond: null };
    throw Refusal.ofFields([{ field: 'engine_class', reason: `there is no class ${engineClass} to run on` }]);
  }

  /** The account's row is locked: two acts at once would each find room for one. @throws Refusal `deployment_limit`. */
  private async assertWithin(
    tx: Statements,
    accountId: string,
    { maxWorkers, poolId = null, isDeployment = false, raises = true }: PlannedPool,
    allowance: Allowance,
  ): Promise<void> {
    await this.store.lockAccount(tx, accountId);
    const use = await this.store.use(tx, accountId, poolId);
    if (isDeployment && use.deployments >= allowance.deployments) {
      const what = allowance.deployments === 0 ? 'no deployments' : `${allowance.deployments} deployments`;
      throw new Refusal('deployment_limit', `This account may make ${what} of its own.`);
    }
    const rest = Math.max(0, allowance.workers - use.workers);
    if (Math.max(maxWorkers, use.present) <= rest) return;
    const leaving = use.leaving + Math.max(0, use.present - maxWorkers);
    // What an operator gave it above its limit it keeps, but for each change of class leaves no more workers running.
    if (!raises && leaving === 0) return;
    const bound = `The deployments of this account may have ${allowance.workers} workers together; ${rest} are left for this one.`;
    const wait = `${leaving} that are too many by now, or of versions that have ended, count until they have stopped.`;
    throw new Refusal('deployment_limit', leaving === 0 ? bound : `${bound} ${wait}`);
  }
}

/** The class that changes name, if it is another one: with the same one its terms stay, which an operator may have set. */
function otherClass(
  { engineClass }: Pick<DeploymentReorder, 'engineClass'>,
  present: Pick<Deployment, 'engineClass'>,
): string | undefined {
  return engineClass === present.engineClass ? undefined : engineClass;
}

function defined<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

function deploymentBusy(jobs: number): Refusal {
  if (jobs === 0) {
    return new Refusal('deployment_busy', 'Jobs are being submitted to this deployment; it was not deleted.');
  }
  const what = jobs === 1 ? '1 job' : `${jobs} jobs`;
  return new Refusal('deployment_busy', `This deployment has ${what} that have not ended; it was not deleted.`);
}

function assertInOrder(minWorkers: number, maxWorkers: number): void {
  if (maxWorkers < minWorkers)
    throw Refusal.ofFields([{ field: 'max_workers', reason: 'must be at least min_workers' }]);
}

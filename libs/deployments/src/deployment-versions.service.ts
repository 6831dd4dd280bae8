import { Refusal } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import type { Deployment } from './deployment';
import type { Allowance, DeploymentLife, DeploymentReorder } from './deployment-life.service';
import { twoAreLive, type DeploymentVersionStore, type EndedVersion, type VersionActor } from './versions';
import type { DeploymentsService } from './deployments.service';

/** What a new version has otherwise than the present one. */
export type VersionOrder = Omit<DeploymentReorder, 'name'>;

/** The versions of a deployment, those that take jobs first. */
export interface DeploymentVersions {
  live: Deployment[];
  ended: EndedVersion[];
}

/**
 * Two versions of a deployment that take jobs side by side, each with workers of its own, so that a change is tried on a share of the
 * jobs and taken back at once. All of it runs in the transaction of the act that records it, under the lock of the deployment; the
 * caller calls `forget` of the deployments after the commit, and has the jobs of a version out of use move on.
 */
export class DeploymentVersioning {
  constructor(
    private readonly database: Statements,
    private readonly deployments: Pick<DeploymentsService, 'known' | 'locked'>,
    private readonly life: Pick<DeploymentLife, 'versionDraft'>,
    private readonly store: DeploymentVersionStore,
  ) {}

  /** All versions of a deployment. */
  async list(deployment: Deployment): Promise<DeploymentVersions> {
    return { live: versionsOf(deployment), ended: await this.store.listEnded(this.database, deployment.id) };
  }

  /**
   * Add a version beside the present one. It takes its share of the jobs as soon as it is ready; until then the present one takes all.
   *
   * @param weight its share, in percent.
   * @param allowance null for an operator.
   * @throws Refusal `deployment_busy` where two versions are live already; as a change of a deployment does.
   */
  async add(
    tx: Statements,
    id: string,
    order: VersionOrder,
    weight: number,
    allowance: Allowance | null,
  ): Promise<Deployment> {
    const present = await this.deployments.locked(tx, id);
    if (present.beside !== null) throw twoAreLive(present.beside.version);
    const draft = await this.life.versionDraft(tx, present, order, allowance);
    const number = (await this.store.latestNumber(tx, id, present.poolId)) + 1;
    if (!(await this.store.add(tx, id, number, draft, weight))) throw twoAreLive(null);
    return this.deployments.known(tx, id);
  }

  /**
   * Give a version its share of the jobs from now on; the other one takes the rest.
   *
   * @throws Refusal `not_found` for a version that is not live, `invalid_request` where it is the only one.
   */
  async weigh(tx: Statements, id: string, version: number, weight: number, by: VersionActor): Promise<Deployment> {
    const present = await this.deployments.locked(tx, id);
    const other = this.otherOf(present, version);
    await this.store.weigh(tx, id, other === present ? weight : 100 - weight, by);
    return this.deployments.known(tx, id);
  }

  /**
   * Take the newer version out of use: the older one takes all jobs, and those that wait for the newer one. What runs there runs to
   * its end. The newer one stays live, without a share.
   *
   * @throws Refusal `invalid_request` where there is one version alone.
   */
  async rollBack(tx: Statements, id: string, by: VersionActor): Promise<Deployment> {
    const present = await this.deployments.locked(tx, id);
    const [older, newer] = versionsOf(present).sort((a, b) => a.version - b.version);
    if (older === undefined || newer === undefined) throw oneAlone();
    await this.store.weigh(tx, id, older === present ? 0 : 100, by);
    return this.deployments.known(tx, id);
  }

  /**
   * End a version: the other one takes all jobs, and those that wait for it. Its workers go when what they run has ended.
   *
   * @throws Refusal `not_found` for a version that is not live, `invalid_request` where it is the only one.
   */
  async end(tx: Statements, id: string, version: number, by: VersionActor): Promise<Deployment> {
    const present = await this.deployments.locked(tx, id);
    const staying = this.otherOf(present, version);
    if (staying === present) await this.store.endOther(tx, id, by);
    else await this.store.endOwn(tx, id, by);
    return this.deployments.known(tx, id);
  }

  /** The live version beside this one. */
  private otherOf(present: Deployment, version: number): Deployment {
    if (versionsOf(present).every((one) => one.version !== version)) {
      throw new Refusal('not_found', `This deployment has no live version ${version}.`);
    }
    if (present.beside === null) throw oneAlone();
    return present.version === version ? present.beside : present;
  }
}

/** The versions of a deployment that take jobs, its own first. */
export function versionsOf(deployment: Deployment): Deployment[] {
  return deployment.beside === null ? [deployment] : [deployment, deployment.beside];
}

function oneAlone(): Refusal {
  return new Refusal('invalid_request', 'This deployment has one live version alone: add another one first.');
}

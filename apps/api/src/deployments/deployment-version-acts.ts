import { Injectable, Logger } from '@nestjs/common';
import type { z } from 'zod';
import { AuditLog, type Act, type Operator } from '@millrace/accounts';
import { Refusal } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import {
  DeploymentLife,
  DeploymentVersioning,
  DeploymentsService,
  type Allowance,
  type Deployment,
  type DeploymentVersions,
  type VersionActor,
} from '@millrace/deployments';
import { RetiredJobs, VersionFigures, type VersionFigure } from '@millrace/jobs';
import { Turns } from '@millrace/platform';
import { changesOf, detailsOf } from './deployment-acts';
import type { WithGraphText } from './graph-text';
import type { OwnVersionCreateSchema, VersionCreateSchema } from './deployment-versions.schemas';

type VersionBody = WithGraphText<
  z.output<typeof OwnVersionCreateSchema> & Partial<z.output<typeof VersionCreateSchema>>
>;

/** The versions of a deployment, with how their latest jobs came out, by number. */
export type ComparedVersions = DeploymentVersions & { figures: ReadonlyMap<number, VersionFigure> };

/** Of one account: the figures come from up to 5,000 jobs, which take some 10 ms of the database. */
const READINGS_AT_A_TIME = 1;

/** What is done to the versions of deployments, by operators and by accounts. Every act is in the audit log. */
@Injectable()
export class DeploymentVersionActs {
  private readonly logger = new Logger('deployments');
  private readonly turns = new Turns(READINGS_AT_A_TIME, 'lists of versions');

  constructor(
    private readonly audit: AuditLog,
    private readonly deployments: DeploymentsService,
    private readonly versioning: DeploymentVersioning,
    private readonly life: DeploymentLife,
    private readonly retired: RetiredJobs,
    private readonly figures: VersionFigures,
  ) {}

  /** @throws Refusal `rate_limited`. */
  async list(deployment: Deployment): Promise<ComparedVersions> {
    return this.turns.run(deployment.accountId, () => this.compare(deployment));
  }

  private async compare(deployment: Deployment): Promise<ComparedVersions> {
    const [versions, figures] = await Promise.all([this.versioning.list(deployment), this.figures.of(deployment.id)]);
    return { ...versions, figures };
  }

  async add(operator: Operator, id: string, body: VersionBody, allowance: Allowance | null): Promise<ComparedVersions> {
    const { weight, ...changes } = body;
    const order = await this.life.checkedWarmUp(id, changesOf(changes));
    return this.act(operator, id, 'version_add', { ...detailsOf(changes), weight }, (tx) =>
      this.versioning.add(tx, id, order, weight, allowance),
    );
  }

  /** @throws Refusal `invalid_request` where no weight is given. */
  weigh(
    operator: Operator,
    id: string,
    version: number,
    weight: number | undefined,
    by: VersionActor,
  ): Promise<ComparedVersions> {
    if (weight === undefined)
      throw Refusal.ofFields([{ field: 'weight', reason: 'must be a whole number from 0 to 100' }]);
    const details = { version, weight };
    return this.act(operator, id, 'version_weigh', details, (tx) => this.versioning.weigh(tx, id, version, weight, by));
  }

  rollBack(operator: Operator, id: string, by: VersionActor): Promise<ComparedVersions> {
    return this.act(operator, id, 'rollback', {}, (tx) => this.versioning.rollBack(tx, id, by));
  }

  end(operator: Operator, id: string, version: number, by: VersionActor): Promise<ComparedVersions> {
    return this.act(operator, id, 'version_end', { version }, (tx) => this.versioning.end(tx, id, version, by));
  }

  private async act(
    operator: Operator,
    id: string,
    verb: string,
    details: Act['details'],
    work: (tx: Statements) => Promise<Deployment>,
  ): Promise<ComparedVersions> {
    const changed = await this.audit.record(operator, async (tx, note) => {
      const deployment = await work(tx);
      const { accountId } = deployment;
      note({ action: `deployment.${verb}`, subjectType: 'deployment', subjectId: id, accountId, details });
      return deployment;
    });
    this.deployments.forget(id);
    await this.moveOn(id);
    // Not in turn: what was done is not refused any more.
    return this.compare(changed);
  }

  /** Have jobs that wait for a version out of use go on at once. A loop moves what this does not, so a failure is no refusal. */
  private async moveOn(id: string): Promise<void> {
    try {
      await this.retired.moveOn(id);
    } catch (error) {
      this.logger.warn(
        `jobs of deployment ${id} were not moved to the version that stays: ${(error as Error).message}`,
      );
    }
  }
}

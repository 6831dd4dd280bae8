import { Inject, Injectable } from '@nestjs/common';
import type { z } from 'zod';
import { AuditLog, actorSeenByAccount, type Act, type AuditEntry, type Operator } from '@millrace/accounts';
import { Refusal } from '@millrace/contracts';
import { Database, type Page } from '@millrace/database';
import {
  DeploymentLife,
  DeploymentsService,
  WorkerStartStore,
  versionsOf,
  type Allowance,
  type Deployment,
  type DeploymentOrder,
  type DeploymentReorder,
  type WorkerStart,
} from '@millrace/deployments';
import { Lifecycle, RetiredJobs } from '@millrace/jobs';
import { API_SETTINGS, type ApiSettings } from '../api.config';
import type { Visitor } from '../endpoints';
import type { DeploymentUpdateSchema, OwnDeploymentUpdateSchema } from './deployment.schemas';
import { graphDigest } from './graph-digest';
import type { WithGraphText } from './graph-text';

type Changes = WithGraphText<
  z.output<typeof OwnDeploymentUpdateSchema> & Partial<z.output<typeof DeploymentUpdateSchema>>
>;

/** What is done to deployments, by operators and by accounts. Every act is in the audit log, which is its history. */
@Injectable()
export class DeploymentActs {
  constructor(
    private readonly audit: AuditLog,
    private readonly deployments: DeploymentsService,
    private readonly life: DeploymentLife,
    private readonly lifecycle: Lifecycle,
    private readonly retired: RetiredJobs,
    private readonly database: Database,
    private readonly workerStarts: WorkerStartStore,
    @Inject(API_SETTINGS)
    private readonly settings: Pick<ApiSettings, 'deploymentLimitPerAccount' | 'deploymentWorkerLimitPerAccount'>,
  ) {}

  async create(
    operator: Operator,
    order: DeploymentOrder,
    details: Act['details'],
    allowance: Allowance | null,
  ): Promise<Deployment> {
    return this.audit.record(operator, async (tx, note) => {
      const deployment = await this.life.create(tx, order, allowance);
      note({ ...actOn(deployment, 'create'), details });
      return deployment;
    });
  }

  async change(operator: Operator, id: string, body: Changes, allowance: Allowance | null): Promise<Deployment> {
    assertNamesAField(body);
    const changes = await this.life.checkedWarmUp(id, { ...changesOf(body), name: body.name });
    const changed = await this.audit.record(operator, async (tx, note) => {
      const deployment = await this.life.change(tx, id, changes, allowance);
      note({ ...actOn(deployment, 'update'), details: detailsOf(body) });
      return deployment;
    });
    this.deployments.forget(id);
    // Another class is another version: a loop moves the jobs that this call does not.
    if (body.engine_class !== undefined) await this.retired.moveOn(id).catch(() => 0);
    return changed;
  }

  async remove(operator: Operator, id: string, drain: boolean): Promise<void> {
    await this.audit.record(operator, async (tx, note) => {
      const deployment = await this.deployments.known(tx, id);
      const outcome = await this.life.remove(tx, id, drain);
      note({ ...actOn(deployment, 'delete'), details: { outcome } });
    });
    this.deployments.forget(id);
  }

  async want(operator: Operator, id: string, verb: 'start' | 'stop'): Promise<Deployment> {
    const wanted = await this.audit.record(operator, async (tx, note) => {
      const { deployment, changed } = await this.deployments[verb](tx, id);
      note({ ...actOn(deployment, verb), details: { changed } });
      return deployment;
    });
    this.deployments.forget(id);
    // The deployment is stopped by now: a loop takes back what this call does not.
    if (verb === 'stop') await this.lifecycle.recallFromStopped().catch(() => 0);
    return wanted;
  }

  /** What was done to a deployment, newest first, for as long as the audit log is kept. */
  async changes(id: string, page: { cursor: string | null; limit: number }): Promise<Page<AuditEntry>> {
    return this.audit.list({ subjectId: id }, page);
  }

  /** How its workers started lately, the latest first. */
  async starts(deployment: Deployment): Promise<WorkerStart[]> {
    const pools = versionsOf(deployment).map(({ poolId }) => poolId);
    return this.workerStarts.latest(this.database, pools);
  }

  /** What the account of a caller may have of deployments. */
  allowanceOf({ caller: { limits } }: Visitor): Allowance {
    return {
      deployments: limits.deploymentLimit ?? this.settings.deploymentLimitPerAccount,
      workers: limits.deploymentWorkerLimit ?? this.settings.deploymentWorkerLimitPerAccount,
    };
  }
}

/** A change without any field would be a line in the history that says nothing. @throws Refusal `invalid_request`. */
function assertNamesAField(body: object): void {
  if (Object.values(body).some((value) => value !== undefined)) return;
  throw Refusal.ofFields([{ field: '', reason: 'name at least one field to change' }]);
}

/** What a request changes of what a version is made of. */
export function changesOf(body: Omit<Changes, 'name'>): Omit<DeploymentReorder, 'name'> {
  const { price_micros_per_second: price } = body;
  return {
    engineClass: body.engine_class,
    queueLimit: body.queue_limit,
    attemptLimitSeconds: body.attempt_limit_seconds,
    minWorkers: body.min_workers,
    maxWorkers: body.max_workers,
    idleSeconds: body.idle_seconds,
    warmUp: body.warm_up,
    models: body.models,
    priceMicrosPerSecond: price === undefined ? undefined : BigInt(price),
  };
}

/** What a request has set, as the history shows it. The graph of a warm-up is named by its digest: it may be large. */
export function detailsOf<T extends { warm_up?: string | null | undefined }>({
  warm_up: graph,
  ...details
}: T): Omit<T, 'warm_up'> & { warm_up?: string | null } {
  if (graph === undefined || graph === null) return { ...details, ...(graph === null && { warm_up: null }) };
  return { ...details, warm_up: graphDigest(graph) };
}

function actOn({ id, accountId }: Deployment, verb: string): Act {
  return { action: `deployment.${verb}`, subjectType: 'deployment', subjectId: id, accountId };
}

/** An act as it is shown; which operator it was is not said. */
export function presentChange({ id, at, actor, action, details }: AuditEntry): {
  id: string;
  at: string;
  actor: string;
  action: string;
  details: Record<string, unknown>;
} {
  return { id, at: at.toISOString(), actor: actorSeenByAccount(actor), action, details };
}

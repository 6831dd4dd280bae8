import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import {
  Refusal,
  GatewayPoolModelsSchema,
  GatewayCatalogueAnswerSchema,
  GatewayClaimAnswerSchema,
  GatewayReportAnswerSchema,
  GatewayTermsSchema,
  type DispatchMessage,
  type GatewayAttempt,
  type NodeCatalogue,
} from '@millrace/contracts';
import type { PoolModels, WarmUp, WorkerRegistration, WorkerReport, WorkerState } from '@millrace/deployments';
import type { ClaimResult, ClaimingWorker, WarmClaims } from '@millrace/jobs';
import type { PoolRegistry } from '../pool-registry';
import { isUnknown, type GatewayClient } from './gateway.client';
import type { RemoteGraphs } from './remote-graph';
import { WARM_UP_SCOPE } from './remote-models';
import { retried } from './retried';

type GatewayClaimAnswer = z.output<typeof GatewayClaimAnswerSchema>;

/** Of it nothing is found: a gateway of an earlier version serves models to attempts alone. */
const NO_SCOPE = '';
/** With the pauses, as long as a lease of the usual length may wait for its worker. */
const CLAIM_TRIES = 5;
/** Minutes: those of all workers that start with this one are taken in one after the other. */
const PUBLISH_TRIES = 40;

/** The pool of a worker outside the cluster, by its gateway. */
export class RemotePool implements PoolRegistry, Pick<WarmClaims, 'take'> {
  constructor(
    private readonly client: GatewayClient,
    private readonly workerId: string,
    private readonly graphs: Pick<RemoteGraphs, 'read'>,
  ) {}

  /** The pool of the token is there. */
  ensurePool(): Promise<void> {
    return Promise.resolve();
  }

  async register({ id, engine, version, host, pid, capacity }: WorkerRegistration): Promise<void> {
    const body = { engine, version, host, pid, capacity };
    await this.client.ask(z.object({}), { method: 'PUT', path: `workers/${id}`, body });
  }

  async heartbeat(workerId: string, report: WorkerReport): Promise<WorkerState | null> {
    const path = `workers/${workerId}/reports`;
    const request = { method: 'POST', path, body: report } as const;
    return (await this.client.ask(GatewayReportAnswerSchema, request).catch(noneWhereNotJoined)).state;
  }

  /** A worker does not learn whose deployment it is: its models are found for the warm-up itself. */
  async warmUp(): Promise<WarmUp | null> {
    const terms = await this.client.ask(GatewayTermsSchema, { method: 'GET', path: 'terms' });
    const { warmUp = null, servesWarmUpModels: servesModels = false } = terms;
    return warmUp === null ? null : { workflow: warmUp, accountId: servesModels ? WARM_UP_SCOPE : NO_SCOPE };
  }

  /** A gateway of an earlier version serves none. */
  async models(): Promise<PoolModels | null> {
    const request = { method: 'GET', path: 'deployment/models' } as const;
    const { models } = await this.client.ask(GatewayPoolModelsSchema, request).catch(noneWhereUnknown);
    return models.length === 0 ? null : { models, accountId: WARM_UP_SCOPE };
  }

  /** For the pool of the token. A gateway that has others to take in first says when to send it again. */
  async publish(_poolId: string, engine: string, catalogue: NodeCatalogue): Promise<string> {
    const path = `workers/${this.workerId}/catalogue`;
    const request = { method: 'PUT', path, body: { engine, catalogue }, takes: 'bytes' } as const;
    return (await retried(() => this.client.ask(GatewayCatalogueAnswerSchema, request), { tries: PUBLISH_TRIES }))
      .digest;
  }

  /**
   * A claim whose answer is lost is asked for again by its id: what it took is run, and not left until its lease runs out. A large graph is read
   * apart; a gateway of an earlier version sends every graph with the answer, and that is asked for where such a one has no graphs apart. A worker that must go
   * asks once more, as long as one request may take, and leaves to others what was not taken.
   */
  async take(message: DispatchMessage, worker: ClaimingWorker): Promise<ClaimResult> {
    const { warm, disk, lacking, gone } = worker;
    const claim = { message, warm, disk, lacking, claimId: randomUUID() };
    const request = { method: 'POST', path: `workers/${worker.id}/claims` } as const;
    const ask = (graphApart: boolean): Promise<GatewayClaimAnswer> =>
      this.client.ask(GatewayClaimAnswerSchema, { ...request, body: { ...claim, graphApart } });
    const { claimed, left } = await retried(() => ask(true), { tries: CLAIM_TRIES, signal: gone }).catch(
      (error: unknown) => {
        if (gone?.aborted !== true) throw error;
        // It may have been taken, and the answer lost: what is answered now is given back at once, and uses up no attempt.
        return ask(true).catch(() => ({ claimed: null, left: message }));
      },
    );
    if (claimed === null) return { claimed, left };
    const { workflow } = claimed;
    const withClaim = async (): Promise<GatewayAttempt | null> => (await ask(false)).claimed;
    const whole = workflow === undefined ? await this.graphs.read(claimed, withClaim, gone) : { ...claimed, workflow };
    if (whole === null) return { claimed: null, left: null };
    const { scope, deadlineAt, ...attempt } = whole;
    return { claimed: { ...attempt, accountId: scope, deadlineAt: new Date(deadlineAt) }, left };
  }
}

/** @throws the error, unless it says that the worker is not registered. */
function noneWhereNotJoined(error: unknown): { state: null } {
  if (error instanceof Refusal && error.details?.not_joined === true) return { state: null };
  throw error;
}

/** @throws the error, unless it says that the gateway has no such path. */
function noneWhereUnknown(error: unknown): { models: [] } {
  if (isUnknown(error)) return { models: [] };
  throw error;
}

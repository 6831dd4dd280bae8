import type { z } from 'zod';
import type { Deployment, EndedVersion } from '@millrace/deployments';
import type { VersionFigure } from '@millrace/jobs';
import type { ComparedVersions } from './deployment-version-acts';
import { graphOf, type DeploymentPresenter } from './deployment.presenter';
import { graphDigest } from './graph-digest';
import type { DeploymentVersionsSchema, OperatedVersionsSchema } from './deployment-versions.schemas';

type Shown = z.infer<typeof DeploymentVersionsSchema>['versions'][number];
type Facts = Omit<Shown, 'warm_up' | 'latest_jobs'>;

/** The versions of a deployment on the wire, the newest first. */
export function presentVersions(
  presenter: DeploymentPresenter,
  versions: ComparedVersions,
): z.infer<typeof DeploymentVersionsSchema> {
  return { versions: presentEach(presenter, versions, graphOf) };
}

/** The same for operators, without the graphs that are the customer's. */
export function presentVersionsToOperator(
  presenter: DeploymentPresenter,
  versions: ComparedVersions,
): z.infer<typeof OperatedVersionsSchema> {
  return { versions: presentEach(presenter, versions, graphDigest) };
}

function presentEach<Graph>(
  presenter: DeploymentPresenter,
  { live, ended, figures }: ComparedVersions,
  graph: (text: string | null) => Graph,
): (Facts & Pick<Shown, 'latest_jobs'> & { warm_up: Graph | null })[] {
  const versions = [
    ...live.map((version) => ({ ...presentLive(presenter, version), warm_up: graph(version.warmUp) })),
    ...ended.map((version) => ({ ...presentEnded(version), warm_up: null })),
  ];
  return versions
    .map((version) => ({ ...version, latest_jobs: presentFigure(figures.get(version.version)) }))
    .sort((a, b) => b.version - a.version);
}

function presentFigure(figure: VersionFigure | undefined): Shown['latest_jobs'] {
  return {
    ended: figure?.jobs ?? 0,
    succeeded: figure?.succeeded ?? 0,
    failed: figure?.failed ?? 0,
    median_engine_ms: figure?.medianEngineMs ?? null,
    median_charged_micros: figure?.medianChargedMicros ?? null,
  };
}

function presentLive(presenter: DeploymentPresenter, version: Deployment): Facts {
  const shown = presenter.present(version);
  return {
    version: version.version,
    live: true,
    weight: version.weight,
    state: shown.state,
    state_reason: shown.state_reason,
    ready_workers: shown.ready_workers,
    engine_class: shown.engine_class,
    price_micros_per_second: shown.price_micros_per_second,
    queue_limit: shown.queue_limit,
    attempt_limit_seconds: shown.attempt_limit_seconds,
    min_workers: shown.min_workers,
    max_workers: shown.max_workers,
    idle_seconds: shown.idle_seconds,
    models: shown.models,
    pool: version.poolId,
    created_at: shown.created_at,
    ended_at: null,
  };
}

function presentEnded({ number, poolId, engineClass, createdAt, endedAt }: EndedVersion): Facts {
  return {
    version: number,
    live: false,
    weight: 0,
    state: null,
    state_reason: null,
    ready_workers: 0,
    engine_class: engineClass,
    price_micros_per_second: null,
    queue_limit: null,
    attempt_limit_seconds: null,
    min_workers: null,
    max_workers: null,
    idle_seconds: null,
    models: null,
    pool: poolId,
    created_at: createdAt.toISOString(),
    ended_at: endedAt.toISOString(),
  };
}

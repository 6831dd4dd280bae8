import type { z } from 'zod';
import type { Deployment, EndedVersion } from '@millrace/deployments';
import type { VersionFigure } from '@millrace/jobs';
import { Printed } from '../http';
import type { ComparedVersions } from './deployment-version-acts';
import type { DeploymentPresenter } from './deployment.presenter';
import { graphDigest } from './graph-digest';
import { printWithGraph } from './graph-text';
import type { DeploymentVersionsSchema, OperatedVersionsSchema } from './deployment-versions.schemas';

type Shown = z.infer<typeof DeploymentVersionsSchema>;
type Facts = Omit<Shown['versions'][number], 'warm_up'>;
/** Facts of a version, and the graph of one that is live. */
type Version = [facts: Facts, warmUp: string | null];

/** The versions of a deployment on the wire, the newest first. */
export function presentVersions(presenter: DeploymentPresenter, versions: ComparedVersions): Printed<Shown> {
  const printed = inOrder(presenter, versions).map(([facts, warmUp]) => printWithGraph(facts, warmUp));
  return new Printed(`{"versions":[${printed.join()}]}`);
}

/** The same for operators, without the graphs that are the customer's. */
export function presentVersionsToOperator(
  presenter: DeploymentPresenter,
  versions: ComparedVersions,
): z.infer<typeof OperatedVersionsSchema> {
  const shown = inOrder(presenter, versions);
  return { versions: shown.map(([facts, warmUp]) => ({ ...facts, warm_up: graphDigest(warmUp) })) };
}

function inOrder(presenter: DeploymentPresenter, { live, ended, figures }: ComparedVersions): Version[] {
  const latest = (number: number): Pick<Facts, 'latest_jobs'> => ({ latest_jobs: presentFigure(figures.get(number)) });
  const versions = [
    ...live.map((version): Version => [
      { ...presentLive(presenter, version), ...latest(version.version) },
      version.warmUp,
    ]),
    ...ended.map((version): Version => [{ ...presentEnded(version), ...latest(version.number) }, null]),
  ];
  return versions.sort(([a], [b]) => b.version - a.version);
}

function presentFigure(figure: VersionFigure | undefined): Facts['latest_jobs'] {
  return {
    ended: figure?.jobs ?? 0,
    succeeded: figure?.succeeded ?? 0,
    failed: figure?.failed ?? 0,
    median_engine_ms: figure?.medianEngineMs ?? null,
    median_charged_micros: figure?.medianChargedMicros ?? null,
  };
}

function presentLive(presenter: DeploymentPresenter, version: Deployment): Omit<Facts, 'latest_jobs'> {
  const shown = presenter.facts(version);
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

function presentEnded({ number, poolId, engineClass, createdAt, endedAt }: EndedVersion): Omit<Facts, 'latest_jobs'> {
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

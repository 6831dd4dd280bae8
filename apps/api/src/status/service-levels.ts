import type { PrometheusClient, Series } from './prometheus.client';

/** What the service promises (docs/slo.md), each with the name that its rules and its alerts have. */
const OBJECTIVES = [
  { name: 'requests', record: 'http_errors', alert: 'Errors', isOfPool: false },
  { name: 'starts', record: 'jobs_started_late', alert: 'Starts', isOfPool: true },
  { name: 'jobs', record: 'jobs_failed_by_service', alert: 'Success', isOfPool: true },
] as const;
type Objective = (typeof OBJECTIVES)[number];
export const COMPONENTS = OBJECTIVES.map(({ name }) => name);
export type ComponentName = Objective['name'];

/**
 * How a component does, by the burn-rate alerts that fire: none; one that warns; a critical one. `unknown`: no figures of it are
 * recorded.
 */
export const STATES = ['operational', 'unknown', 'degraded', 'disrupted'] as const;
export type ServiceState = (typeof STATES)[number];

/** How one of the things that are promised does. A share is of what went well, from 0 to 1; null: nothing came, or none is known. */
export interface Component {
  name: ComponentName;
  state: ServiceState;
  lastDay: number | null;
  last30Days: number | null;
  /** Whole days (UTC), the oldest first. */
  days: { date: string; share: number | null }[];
}

/** How the service does. */
export interface ServiceLevels {
  /** When Prometheus was asked. */
  asOf: Date;
  components: Component[];
}

/** Whose figures: the pool that is everybody's, and the installation where Prometheus knows several. */
export interface LevelsOf {
  pool: string;
  namespace: string | undefined;
}

const DAY_MS = 86_400_000;
const DAYS = 30;
/** The month is recorded every five minutes: as far back as Prometheus looks for a sample, so that it would miss one now and then. */
const LATEST_OF_MONTH = '15m';

/** The worst of several states. What is not known hides nothing that is. */
export function worstOf(states: readonly ServiceState[]): ServiceState {
  return STATES[Math.max(...states.map((state) => STATES.indexOf(state)))] ?? 'unknown';
}

/**
 * Ask for the figures that the rules of `helm/millrace/rules` record, and for the alerts on them. Pools of deployments are their
 * owners' business: only the shared one is asked for.
 *
 * @param now the day that is not over has no share of its own among the days
 * @throws what the client does
 */
export async function readServiceLevels(prometheus: PrometheusClient, of: LevelsOf, now: Date): Promise<ServiceLevels> {
  const midnight = new Date(Math.floor(now.getTime() / DAY_MS) * DAY_MS);
  // A share that was recorded at a midnight is of the day before it.
  const start = new Date(midnight.getTime() - (DAYS - 1) * DAY_MS);
  const [shares, history, firing] = await Promise.all([
    prometheus.now(`${ofDay(of)} or ${ofMonth(of)}`),
    prometheus.over(ofDay(of), { start, end: midnight, step: DAY_MS / 1_000 }),
    prometheus.now(alerts(of)),
  ]);
  const components = OBJECTIVES.map(({ name }): Component => {
    const own = ({ labels }: Series): boolean => labels.objective === name;
    const wentWrong = (span: string): Series | undefined =>
      shares.find((series) => own(series) && series.labels.span === span);
    return {
      name,
      state: stateOf(
        firing.filter(own).map(({ labels }) => labels.severity),
        wentWrong('day') !== undefined,
      ),
      lastDay: shareOf(wentWrong('day')?.samples[0]?.value),
      last30Days: shareOf(wentWrong('month')?.samples[0]?.value),
      days: daysOf(history.find(own), start),
    };
  });
  return { asOf: now, components };
}

function stateOf(severities: readonly (string | undefined)[], isRecorded: boolean): ServiceState {
  if (severities.includes('critical')) return 'disrupted';
  if (severities.length > 0) return 'degraded';
  return isRecorded ? 'operational' : 'unknown';
}

function daysOf(series: Series | undefined, start: Date): Component['days'] {
  return Array.from({ length: DAYS }, (_, day) => {
    const end = start.getTime() + day * DAY_MS;
    const sample = series?.samples.find(({ at }) => at.getTime() === end);
    return { date: new Date(end - DAY_MS).toISOString().slice(0, 10), share: shareOf(sample?.value) };
  });
}

/** Of what went wrong, what went well. */
function shareOf(wentWrong: number | null | undefined): number | null {
  return typeof wentWrong === 'number' ? Math.min(1, Math.max(0, 1 - wentWrong)) : null;
}

function ofDay(of: LevelsOf): string {
  return each('day', (objective) => seriesOf(of, objective, '1d'));
}

function ofMonth(of: LevelsOf): string {
  return each('month', (objective) => `last_over_time(${seriesOf(of, objective, '30d')}[${LATEST_OF_MONTH}])`);
}

function seriesOf(of: LevelsOf, objective: Objective, window: string): string {
  return `millrace:${objective.record}:ratio_rate${window}{${matchers(of, objective).join(',')}}`;
}

function alerts(of: LevelsOf): string {
  return each('now', (objective) => {
    const isOne = [`alertname=~"Millrace${objective.alert}Burn.*"`, 'alertstate="firing"', ...matchers(of, objective)];
    return `ALERTS{${isOne.join(',')}}`;
  });
}

/** All in one question. Labels of their own say which is which, and keep `or`, which knows no names, from taking one for the other. */
function each(span: string, selector: (objective: Objective) => string): string {
  const labelled = (query: string, label: string, value: string): string =>
    `label_replace(${query}, "${label}", "${value}", "", "")`;
  return OBJECTIVES.map((objective) =>
    labelled(labelled(selector(objective), 'objective', objective.name), 'span', span),
  ).join(' or ');
}

function matchers({ pool, namespace }: LevelsOf, { isOfPool }: Objective): string[] {
  const ofNamespace = namespace === undefined ? [] : [`namespace=${JSON.stringify(namespace)}`];
  return isOfPool ? [...ofNamespace, `pool=${JSON.stringify(pool)}`] : ofNamespace;
}

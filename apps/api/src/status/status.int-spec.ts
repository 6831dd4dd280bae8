import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { createLogger } from '@millrace/platform';
import { recordedFigures, type Recorded, type RecordedFigures } from '../fixtures/recorded-figures';
import { RunningApi } from '../fixtures/running-api';
import { PrometheusClient } from './prometheus.client';
import { StatusService } from './status.service';

const DAY_MS = 86_400_000;
const NAMESPACE = 'here';
const POOL = 'everybody';
const ERRORS = `millrace:http_errors:ratio_rate`;
const LATE = 'millrace:jobs_started_late:ratio_rate';
const FAILED = 'millrace:jobs_failed_by_service:ratio_rate';

interface Body {
  state: string;
  as_of: string | null;
  components: {
    name: string;
    state: string;
    last_day: number | null;
    last_30_days: number | null;
    days: { date: string; share: number | null }[];
  }[];
}

const now = new Date();
const midnight = new Date(Math.floor(now.getTime() / DAY_MS) * DAY_MS);
/** When the day ended that was so many days before today. */
const endOf = (daysAgo: number): Date => new Date(midnight.getTime() - (daysAgo - 1) * DAY_MS);
const recently = new Date(now.getTime() - 1_000);
/** The month is recorded every five minutes, and once it was late. */
const before = new Date(now.getTime() - 480_000);
const ofPool = `{namespace="${NAMESPACE}",pool="${POOL}"}`;

const RECORDED: Recorded[] = [
  ...[1, 2, 30].map((daysAgo) => ({
    series: `${ERRORS}1d{namespace="${NAMESPACE}"}`,
    at: endOf(daysAgo),
    value: daysAgo / 1_000,
  })),
  { series: `${ERRORS}1d{namespace="${NAMESPACE}"}`, at: recently, value: 0.0005 },
  { series: `${ERRORS}30d{namespace="${NAMESPACE}"}`, at: before, value: 0.0001 },
  { series: `${LATE}1d${ofPool}`, at: recently, value: 0.25 },
  { series: `${LATE}30d${ofPool}`, at: before, value: 0.01 },
  { series: `${FAILED}1d${ofPool}`, at: recently, value: Number.NaN },
  { series: `${FAILED}30d${ofPool}`, at: before, value: 0 },
  // Another installation's, and those of a deployment's pool.
  { series: `${ERRORS}1d{namespace="elsewhere"}`, at: recently, value: 1 },
  { series: `${FAILED}1d{namespace="${NAMESPACE}",pool="deployment-x"}`, at: recently, value: 1 },
  alert('MillraceStartsBurnSlowly', 'warning', POOL),
  alert('MillraceSuccessBurnFast', 'critical', 'deployment-x'),
];

function alert(name: string, severity: string, pool: string): Recorded {
  const labels = `alertname="${name}",alertstate="firing",namespace="${NAMESPACE}",pool="${pool}",severity="${severity}"`;
  return { series: `ALERTS{${labels}}`, at: recently, value: 1 };
}

describe('the status of the service', () => {
  let figures: RecordedFigures;
  let api: RunningApi;
  beforeAll(async () => {
    figures = await recordedFigures(RECORDED);
    api = await RunningApi.open({
      MILLRACE_PROMETHEUS_URL: figures.url,
      MILLRACE_PROMETHEUS_NAMESPACE: NAMESPACE,
      MILLRACE_POOL: POOL,
    });
  });
  afterAll(async () => {
    await api.close();
    await figures.close();
  });

  it('has the recorded figures of the shared pool and of this installation, to anyone', async () => {
    const { status, body, headers } = await api.client(null).call<Body>('GET', '/platform/v1/status');
    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('public, max-age=15');
    expect(body.components.map(({ name, state }) => [name, state])).toEqual([
      ['requests', 'operational'],
      ['starts', 'degraded'],
      ['jobs', 'operational'],
    ]);
    expect(body.state).toBe('degraded');
    expect(Math.abs(Date.parse(body.as_of ?? '') - Date.now())).toBeLessThan(60_000);
    const [requests, starts, jobs] = body.components;
    expect(requests).toMatchObject({ last_day: 0.9995, last_30_days: 0.9999 });
    expect(starts).toMatchObject({ last_day: 0.75, last_30_days: 0.99 });
    // A share of nothing is no share.
    expect(jobs).toMatchObject({ last_day: null, last_30_days: 1 });
  });

  it('has a share of each whole day that something was recorded of', async () => {
    const { body } = await api.client(null).call<Body>('GET', '/platform/v1/status');
    const days = body.components[0]?.days ?? [];
    expect(days).toHaveLength(30);
    const dayBefore = (days: number): string => new Date(midnight.getTime() - days * DAY_MS).toISOString().slice(0, 10);
    expect(days.filter(({ share }) => share !== null)).toEqual([
      { date: dayBefore(30), share: 0.97 },
      { date: dayBefore(2), share: 0.998 },
      { date: dayBefore(1), share: 0.999 },
    ]);
  });

  it('is a page without scripts, which says the worst first', async () => {
    const answer = await fetch(`${api.publicUrl}/status`);
    expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/);
    const page = await answer.text();
    expect(page).toContain('<h1 class="degraded">Some things work less well than promised</h1>');
    expect(page).toContain('<strong>75.00 %</strong>');
    expect(page).not.toContain('<script');
  });

  it('is not known where no figures are kept', async () => {
    const without = await RunningApi.open();
    try {
      const { body } = await without.client(null).call<Body>('GET', '/platform/v1/status');
      expect(body).toEqual({ state: 'unknown', as_of: null, components: [] });
      expect(await (await fetch(`${without.publicUrl}/status`)).text()).toContain('MILLRACE_PROMETHEUS_URL');
    } finally {
      await without.close();
    }
  });
});

describe('a Prometheus that fails', () => {
  const of = { pool: POOL, namespace: undefined };
  const logger = createLogger('api', 'fatal');
  const START = Date.parse('2026-01-01T00:00:00Z');
  let server: Server;
  let url: string;
  let answer: 'nothing is recorded' | 'an error' | 'too much' | 'never';
  let asked = 0;
  beforeAll(async () => {
    server = createServer((request, response) => {
      asked += 1;
      if (answer === 'never') return;
      response.statusCode = answer === 'an error' ? 503 : 200;
      const resultType = request.url?.endsWith('query_range') === true ? 'matrix' : 'vector';
      const padding = answer === 'too much' ? 'x'.repeat(2_000_000) : '';
      response.end(JSON.stringify({ status: 'success', data: { resultType, result: [] }, padding }));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  });
  afterAll(() => {
    server.close();
    server.closeAllConnections();
  });

  it('is asked once by all who look at the same time', async () => {
    answer = 'nothing is recorded';
    const service = new StatusService(new PrometheusClient(url), of, logger);
    asked = 0;
    await Promise.all(Array.from({ length: 50 }, () => service.read()));
    expect(asked).toBe(3);
  });

  it('leaves the last figures for ten minutes, and then none', async () => {
    let clock = START;
    const service = new StatusService(new PrometheusClient(url), of, logger, () => clock);
    answer = 'nothing is recorded';
    const first = await service.read();
    expect(first.levels?.asOf.getTime()).toBe(START);
    // Rules that record nothing are no sign that all is well.
    expect(first.state).toBe('unknown');
    answer = 'an error';
    clock = START + 600_000;
    expect((await service.read()).levels).toEqual(first.levels);
    clock += 15_001;
    expect((await service.read()).levels).toBeNull();
  });

  it('gets a pause when it does not answer at all, and nobody waits meanwhile', async () => {
    let clock = START;
    // While it answers it may take its time, as a slow machine does.
    let client = new PrometheusClient(url, 60_000);
    const asking = new Proxy(client, { get: (_, name) => Reflect.get(client, name, client) as unknown });
    const service = new StatusService(asking, of, logger, () => clock);
    answer = 'nothing is recorded';
    const { levels } = await service.read();
    expect(levels).not.toBeNull();
    answer = 'never';
    client = new PrometheusClient(url, 1_000);
    clock += 30_001;
    asked = 0;
    const first = service.read();
    // It waits for as long as it may.
    clock += 5_100;
    expect((await first).levels).toEqual(levels);
    for (let looks = 0; looks < 10; looks += 1) {
      clock += 900;
      expect((await service.read()).levels).toEqual(levels);
    }
    expect(asked).toBe(3);
    clock += 901;
    await service.read();
    expect(asked).toBe(6);
  });

  it.each(['an error', 'too much'] as const)('with %s is asked again after a pause, not before', async (failure) => {
    let clock = START;
    const service = new StatusService(new PrometheusClient(url), of, logger, () => clock);
    answer = failure;
    expect(await service.read()).toEqual({ state: 'unknown', levels: null });
    answer = 'nothing is recorded';
    clock = START + 15_000;
    expect((await service.read()).levels).toBeNull();
    clock = START + 15_001;
    expect((await service.read()).levels).not.toBeNull();
  });
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { statusSettings } from '../../apps/api/src/status.config';
import { CHART } from './support/helm';

interface Schema {
  pattern?: string;
  properties?: Record<string, Schema>;
}

/** The pattern of a value in the chart's schema. */
function patternOf(path: string[]): RegExp {
  let schema = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8')) as Schema;
  for (const name of path) schema = schema.properties?.[name] ?? {};
  if (schema.pattern === undefined) throw new Error(`${path.join('.')} has no pattern`);
  return new RegExp(schema.pattern);
}

describe('the address of a Prometheus', () => {
  const inChart = patternOf(['metrics', 'status', 'prometheusUrl']);
  const inSettings = statusSettings.prometheusUrl.schema;
  const takes = (url: string): [chart: boolean, api: boolean] => [inChart.test(url), inSettings.safeParse(url).success];

  it.each([
    'http://prometheus',
    'http://prometheus:9090',
    'https://prometheus.monitoring:9090/a/b/',
    'http://10.0.0.1:9090',
    'http://[::1]:9090',
    'http://prometheus/a@b',
  ])('may be %s, to the chart and to the API', (url) => {
    expect(takes(url)).toEqual([true, true]);
  });

  it.each([
    'prometheus:9090',
    'ftp://prometheus',
    'http://user@prometheus',
    'http://user:password@prometheus',
    'http://:password@prometheus',
    'http://prometheus?a=b',
    'http://prometheus/?',
    'http://prometheus/#',
    'http://prometheus/#a',
    'http://prometheus /',
  ])('is not %s, neither to the chart nor to the API', (url) => {
    expect(takes(url)).toEqual([false, false]);
  });
});

import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ApiClient, TestStack, eventually } from '@millrace/testing';
import { recordedFigures, type Recorded, type RecordedFigures } from '../apps/api/src/fixtures/recorded-figures';

/*
 * The status of a service that runs, for people who have no key: what a Prometheus recorded, and what is said while it is away.
 */

const CLI = join(process.cwd(), 'dist/apps/cli/src/main.js');
const NAMESPACE = 'here';
/** Of this stack alone: stacks share a Redis. */
const POOL = `everybody-${randomUUID()}`;
const run = promisify(execFile);

const recently = (): Date => new Date(Date.now() - 1_000);
const ratio = (name: string, value: number, pool?: string): Recorded => ({
  series: `millrace:${name}{namespace="${NAMESPACE}"${pool === undefined ? '' : `,pool="${pool}"`}}`,
  at: recently(),
  value,
});

let figures: RecordedFigures;
let stack: TestStack;
beforeAll(async () => {
  figures = await recordedFigures(
    ['1d', '30d'].flatMap((span) => [
      ratio(`http_errors:ratio_rate${span}`, 0.0001),
      ratio(`jobs_started_late:ratio_rate${span}`, 0, POOL),
      ratio(`jobs_failed_by_service:ratio_rate${span}`, 0, POOL),
    ]),
  );
  const settings = {
    MILLRACE_PROMETHEUS_URL: figures.url,
    MILLRACE_PROMETHEUS_NAMESPACE: NAMESPACE,
    MILLRACE_POOL: POOL,
  };
  stack = await TestStack.start({ workers: 0, settings });
});
afterAll(async () => {
  await stack.stop();
  await figures.close();
});

/** What `millrace status` prints, and how it ends. */
async function status(url: string): Promise<{ code: number; output: string }> {
  const env = { PATH: process.env.PATH, HOME: '/nonexistent', MILLRACE_URL: url };
  return run(process.execPath, [CLI, 'status'], { env }).then(
    ({ stdout }) => ({ code: 0, output: stdout }),
    ({ code, stdout }: { code: number; stdout: string }) => ({ code, output: stdout }),
  );
}

it('is shown to anyone: as a page, as JSON and on the command line', async () => {
  const page = await fetch(`${stack.publicUrl}/status`);
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  const html = await page.text();
  expect(html).toContain('Everything works');
  expect(html).not.toContain('<script');
  const { body } = await new ApiClient(stack.publicUrl, null).call<{ state: string }>('GET', '/platform/v1/status');
  expect(body.state).toBe('operational');
  const { code, output } = await status(stack.publicUrl);
  expect([code, output.split('\n')[0]]).toEqual([0, 'operational']);
  expect(output).toContain('99.99 %');
});

it('of a service that is disrupted is worse on all of them, and an exit code for a script', async () => {
  const alert = 'alertname="MillraceErrorsBurnFast",alertstate="firing",severity="critical"';
  const broken = await recordedFigures([
    { series: `ALERTS{${alert},namespace="${NAMESPACE}"}`, at: recently(), value: 1 },
    ratio('http_errors:ratio_rate1d', 0.5),
  ]);
  const api = await stack.spawn('api', { MILLRACE_PROMETHEUS_URL: broken.url });
  try {
    const { body } = await new ApiClient(api.publicUrl, null).call<{ state: string }>('GET', '/platform/v1/status');
    expect(body.state).toBe('disrupted');
    expect(await (await fetch(`${api.publicUrl}/status`)).text()).toContain('Disrupted');
    expect(await status(api.publicUrl)).toMatchObject({
      code: 1,
      output: expect.stringMatching(/^disrupted/) as string,
    });
  } finally {
    await api.end();
    await broken.close();
  }
});

it('is not known while Prometheus is away, and the service goes on', async () => {
  const gone = await recordedFigures([]);
  await gone.close();
  const api = await stack.spawn('api', { MILLRACE_PROMETHEUS_URL: gone.url });
  try {
    await eventually('it to say so', async () => {
      const { body } = await new ApiClient(api.publicUrl, null).call<{ state: string }>('GET', '/platform/v1/status');
      return body.state === 'unknown';
    });
    expect(await status(api.publicUrl)).toMatchObject({
      code: 0,
      output: expect.stringContaining('unknown') as string,
    });
    expect((await fetch(`${api.opsUrl}/health/ready`)).status).toBe(200);
  } finally {
    await api.end();
  }
});

import { listSettings } from '../../scripts/lib/chart/settings-list.mjs';
import { Failure } from '../../scripts/lib/command/failure.mjs';
import { oneOf, wholeNumber } from '../../scripts/lib/command/flags.mjs';
import { assertKnown, parseSetting } from '../../scripts/lib/stack/start-options.mjs';

const PORTS = { fallback: 0, least: 0, most: 65_535 };

describe('a flag', () => {
  it('takes a whole number within its bounds', () => {
    expect(wholeNumber('--port', '8080', PORTS)).toBe(8080);
    expect(wholeNumber('--port', undefined, PORTS)).toBe(0);
  });

  it.each(['65536', '-1', '1e3', '', ' 1', '0x10', '1.5'])('refuses %j, naming itself, with exit code 2', (value) => {
    const attempt = (): number => wholeNumber('--port', value, PORTS);
    expect(attempt).toThrow(/^--port takes a whole number from 0 to 65535, not «/);
    expect(attempt).toThrow(expect.objectContaining({ exitCode: 2 }) as Failure);
  });

  it('takes one of its choices only', () => {
    expect(oneOf('--engine', 'cpu', ['cpu', 'comfyui'])).toBe('cpu');
    expect(() => oneOf('--engine', 'gpu', ['cpu', 'comfyui'])).toThrow('--engine takes cpu or comfyui, not «gpu»');
  });
});

describe('--set', () => {
  it.each([
    ['LEASE_SECONDS=5', 'MILLRACE_LEASE_SECONDS', '5'],
    ['MILLRACE_LEASE_SECONDS=5', 'MILLRACE_LEASE_SECONDS', '5'],
    ['DATABASE_POOL_SIZE=5', 'MILLRACE_DATABASE_POOL_SIZE', '5'],
    ['DATABASE_URL=postgresql://a/b?c=d', 'DATABASE_URL', 'postgresql://a/b?c=d'],
    ['S3_BUCKET=files', 'S3_BUCKET', 'files'],
    ['TOKEN=', 'MILLRACE_TOKEN', ''],
    ['OTEL_EXPORTER_OTLP_ENDPOINT=http://a', 'OTEL_EXPORTER_OTLP_ENDPOINT', 'http://a'],
  ])('%s sets %s', (assignment, name, value) => expect(parseSetting(assignment)).toEqual([name, value]));

  it.each(['LEASE_SECONDS', 'lease=5', '=5', ''])('refuses %j', (assignment) =>
    expect(() => parseSetting(assignment)).toThrow(Failure),
  );

  it.each([
    ['NOPE', '--set NOPE names no setting: see docs/settings.md;'],
    ['MILLRACE_LEASE_SECOND', '--set LEASE_SECOND names no setting: did you mean LEASE_SECONDS? See docs/settings.md;'],
    ['S3_BUKET', '--set S3_BUKET names no setting: did you mean S3_BUCKET? See docs/settings.md;'],
  ])('refuses %s, which no process reads', (name, sentence) => {
    const known = listSettings().map(({ setting }) => setting.name);
    expect(() => assertKnown({ MILLRACE_PORT: '1', [name]: '1' }, known)).toThrow(sentence);
    expect(() => assertKnown({ MILLRACE_PORT: '1', DATABASE_URL: '' }, known)).not.toThrow();
  });
});

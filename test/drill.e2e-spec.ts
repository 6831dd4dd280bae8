import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const DRILL = join(__dirname, '..', 'scripts', 'drill.mjs');
/** Two starts of a stack, the load between them and the audit on two busy cores. */
const LIMIT_MS = 600_000;

/** Nothing of this run's own servers but the one for bytes, in which a drill has buckets of its own. */
const env = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(DATABASE_URL|REDIS_URL|S3_\w+|MILLRACE_\w+)$/.test(name)),
  ),
  S3_TEST_ENDPOINT: process.env.MILLRACE_TEST_S3_ENDPOINT,
  S3_TEST_ACCESS_KEY_ID: process.env.MILLRACE_TEST_S3_ACCESS_KEY_ID,
  S3_TEST_SECRET_ACCESS_KEY: process.env.MILLRACE_TEST_S3_SECRET_ACCESS_KEY,
};

async function drill(...flags: string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [DRILL, ...flags], { env });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()));
  const [code] = (await once(child, 'exit')) as [number | null];
  return { code, output };
}

describe('a stack that lost everything but its backup', () => {
  it.each([
    ['its machine', ['--seconds', '8']],
    ['its rows to a mistake', ['--disaster', 'mistake', '--seconds', '4']],
  ])(
    'and %s has every job back that was acknowledged before the restore point, its bytes and its books',
    async (_what, flags) => {
      const { code, output } = await drill(...flags);
      expect(output).toMatch(/Every invariant holds\./);
      expect(code).toBe(0);
      const [, kept] = /acknowledged, (\d+) are there/.exec(output) ?? [];
      expect(Number(kept)).toBeGreaterThan(0);
      expect(output).toContain('The bytes of what was erased before the restore point are gone.');
      if (flags.includes('mistake')) expect(output).toContain('was erased again.');
      expect(output).toMatch(/RPO (?:\d+ min )?[\d.]+ s:/);
      expect(output).toMatch(/RTO (?:\d+ min )?[\d.]+ s:/);
    },
    LIMIT_MS,
  );

  it('says which flag is wrong', async () => {
    const { code, output } = await drill('--disaster', 'flood');
    expect(output).toContain('--disaster');
    expect(code).toBe(2);
  });
});

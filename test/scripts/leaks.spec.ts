import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..');
const TIMER = 'setInterval(() => undefined, 1_000);';
const THREAD = "new (require('node:worker_threads').Worker)('setInterval(() => undefined, 1_000)', { eval: true });";
const NOTHING = '';

let folder: string;
beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'millrace-leaks-'))));
afterEach(() => rm(folder, { recursive: true, force: true }));

/** How long the run waits for what is open. What leaves nothing open ends before, also on a busy machine. */
const LEAK_MS = 2_000;
const NO_LEAK_MS = 60_000;

/** Run jest on two test files that pass, one of which opens something. */
async function run(opens: string, maxWorkers: number): Promise<{ code: number; output: string }> {
  await writeFile(join(folder, 'a.test.js'), `test('opens', () => { ${opens} });`);
  await writeFile(join(folder, 'b.test.js'), "test('passes', () => undefined);");
  const exitLimitMs = opens === NOTHING ? NO_LEAK_MS : LEAK_MS;
  const config = {
    rootDir: folder,
    maxWorkers,
    workerGracefulExitTimeout: exitLimitMs,
    reporters: ['default', [join(ROOT, 'scripts/lib/testing/leak-reporter.js'), { exitLimitMs }]],
  };
  const args = [join(ROOT, 'node_modules/jest/bin/jest.js'), '--ci', '--config', JSON.stringify(config)];
  return new Promise((resolve) =>
    execFile(process.execPath, args, { cwd: folder }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, output: stdout + stderr }),
    ),
  );
}

describe.each([
  ['in workers', 2],
  ['in the process of jest', 1],
])('a run %s', (_where, maxWorkers) => {
  it.each([
    ['a timer', TIMER],
    ['a thread', THREAD],
  ])('that passes and leaves %s open fails, and ends', async (_what, opens) => {
    const { code, output } = await run(opens, maxWorkers);
    expect(output).toContain('Tests:       2 passed, 2 total');
    expect(output).toMatch(/failed to exit gracefully|something is still open/);
    expect(code).toBe(1);
  });

  it('that leaves nothing open succeeds', async () => {
    expect(await run(NOTHING, maxWorkers)).toMatchObject({ code: 0 });
  });
});

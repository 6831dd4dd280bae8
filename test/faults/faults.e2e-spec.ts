import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const FAULTS = join(__dirname, '..', '..', 'scripts', 'faults.mjs');
const SECONDS = 20;
/** A cold start of a stack, the faults, the rest and the audit on two busy cores. */
const LIMIT_MS = 300_000;

/** Nothing of this run's own servers: the command brings up its own, and harms them. */
const embedded = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(DATABASE_URL|REDIS_URL|S3_\w+|MILLRACE_\w+)$/.test(name)),
);

describe('a stack that is killed, frozen, cut off and emptied under load', () => {
  it(
    'keeps every promise',
    async () => {
      const child = spawn(process.execPath, [FAULTS, '--seconds', String(SECONDS), '--seed', '7'], { env: embedded });
      let output = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (text: Buffer) => (output += text.toString()));
      const [code] = (await once(child, 'exit')) as [number | null];
      expect(output).toMatch(/faults, 0 breaches\./);
      expect(code).toBe(0);
      const acknowledged = Number(/(\d+) {2}jobs acknowledged/.exec(output)?.[1]);
      expect(acknowledged).toBeGreaterThan(0);
    },
    LIMIT_MS,
  );
});

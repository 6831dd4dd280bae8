import { mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const REPOSITORY = join(__dirname, '../../../..');

/**
 * The simulator as a command that can be spawned: `[node, main.js]`, to which ComfyUI's flags are added. Compiled below
 * `node_modules`, so that its own imports are found.
 */
export async function spawnableSimulator(): Promise<string[]> {
  // Native, and of use to one test alone: everything else that imports this library does without.
  const { transformFileSync } = await import('@swc/core');
  const target = join(REPOSITORY, 'node_modules/.cache/millrace/comfyui-simulator');
  for (const file of readdirSync(__dirname, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts') || file.endsWith('spec.ts')) continue;
    const { code } = transformFileSync(join(__dirname, file), {
      swcrc: false,
      jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
      module: { type: 'commonjs' },
    });
    // Whole at once: another test process may be reading it.
    const compiled = join(target, file.replace(/\.ts$/, '.js'));
    mkdirSync(dirname(compiled), { recursive: true });
    writeFileSync(`${compiled}.${process.pid}`, code);
    renameSync(`${compiled}.${process.pid}`, compiled);
  }
  return [process.execPath, join(target, 'main.js')];
}

import { spawnSync } from 'node:child_process';
import os from 'node:os';
import process from 'node:process';
import { ROOT } from '../../scripts/lib/system/index.mjs';

/** What a reader must know to place the figures; the load says who else was there. */
export function machineFacts() {
  const [cpu] = os.cpus();
  return {
    cpu: cpu?.model.trim() ?? 'unknown',
    cores: os.cpus().length,
    memoryBytes: os.totalmem(),
    load: os.loadavg().map((load) => Number(load.toFixed(2))),
    system: `${os.type()} ${os.release()}`,
    node: process.versions.node,
    commit: commitOf(),
  };
}

function commitOf() {
  const { status, stdout } = spawnSync('git', ['describe', '--always', '--dirty'], { cwd: ROOT, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : 'unknown';
}

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestFolder, type TestFolder } from '@millrace/testing';
import { CHART } from './support/helm';

const SCRIPT = readFileSync(join(CHART, 'files', 'run-comfyui.sh'), 'utf8');
const FOR_EVER = `console.log('up'); setInterval(() => undefined, 1e9);`;

let folder: TestFolder;
let restartFile: string;
let shell: ChildProcess;

beforeEach(async () => {
  folder = await createTestFolder();
  restartFile = join(folder.path, 'restart');
});
afterEach(() => folder.drop());

/** Run a program in the place of ComfyUI, as the chart's sidecar does, until it prints. */
async function runComfyui(program: string): Promise<void> {
  const command = ['-c', SCRIPT, 'comfyui', process.execPath, '-e', program];
  const env = { PATH: process.env.PATH, COMFYUI_RESTART_FILE: restartFile };
  shell = spawn('/bin/sh', command, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  if (shell.stdout !== null) await once(shell.stdout, 'data');
}

describe('what runs a ComfyUI beside a worker', () => {
  it('ends it with SIGTERM, and itself with it', async () => {
    await runComfyui(`process.on('SIGTERM', () => process.exit(7)); ${FOR_EVER}`);
    shell.kill('SIGTERM');
    await once(shell, 'exit');
    expect(shell.exitCode).toBe(7);
  });

  it('ends with it', async () => {
    await runComfyui(`console.log('up'); process.exitCode = 3;`);
    if (shell.exitCode === null) await once(shell, 'exit');
    expect(shell.exitCode).toBe(3);
  });

  it('kills one that hangs when the worker asks for it, and starts without that request', async () => {
    writeFileSync(restartFile, '');
    await runComfyui(`process.on('SIGTERM', () => undefined); ${FOR_EVER}`);
    expect(existsSync(restartFile)).toBe(false);
    writeFileSync(restartFile, '');
    await once(shell, 'exit');
    expect(shell.exitCode).toBe(128 + 9);
  });
});

import { spawn } from 'node:child_process';
import { transformFileSync } from '@swc/core';
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scratchDir } from '../../../conformance/run-workflow';
import { eventually, spawnableSimulator } from '@millrace/testing';
import type { OwnOptions } from '../comfyui.config';
import { ComfyuiEngine } from '../comfyui.engine';
import { ComfyuiProcess } from './comfyui.process';
import { isAlive, ownComfyuiSuite, pidOf, whenGone } from '../../../conformance/comfyui/own-comfyui.conformance';
import { comfyuiSuite } from '../../../conformance/comfyui/comfyui.conformance';
let command: string[];

beforeAll(async () => {
  command = await spawnableSimulator();
});

function ownServer(extraArguments: string[] = []): OwnOptions {
  const dataDir = scratchDir();
  return { mode: 'own', command, cwd: dataDir, dataDir, extraArguments };
}

comfyuiSuite('an engine with a ComfyUI of its own', async () => {
  const engine = new ComfyuiEngine({ server: ownServer() });
  await engine.start();
  return { engine, close: () => engine.close() };
});

ownComfyuiSuite('a ComfyUI of the engine’s own', () => ownServer());

describe('a ComfyUI of the engine’s own, as it starts and ends', () => {
  it('is killed when it does not end by itself', async () => {
    const engine = new ComfyuiEngine({ server: ownServer(['--ignore-term']), bounds: { killGraceMs: 200 } });
    await engine.start();
    const pid = pidOf(engine);
    await engine.close();
    await whenGone(pid);
  });

  it('says its last words when it does not start', async () => {
    const engine = new ComfyuiEngine({ server: ownServer(['--fail-start']) });
    await expect(engine.start()).rejects.toThrow(
      'ComfyUI ended as it started. Its last words: ModuleNotFoundError: No module named torch',
    );
    expect((await engine.health()).problem).toContain('No module named torch');
  });
});

describe('a ComfyUI of the engine’s own, as it goes on', () => {
  it('keeps no files of runs that have not changed for a day: what could not be removed after a run goes then', async () => {
    const server = ownServer();
    const engine = new ComfyuiEngine({ server, bounds: { sweepMs: 20 } });
    await engine.start();
    const runs = join(server.dataDir, 'output/millrace');
    for (const runId of ['old', 'new']) mkdirSync(join(runs, runId), { recursive: true });
    const old = new Date(Date.now() - 25 * 3_600_000);
    utimesSync(join(runs, 'old'), old, old);
    await eventually('the old folder is gone', () => !existsSync(join(runs, 'old')));
    expect(readdirSync(runs)).toEqual(['new']);
    await engine.close();
  });
});

describe('the process of a ComfyUI', () => {
  it('is given its own folders, and nothing of the environment that is none of its business', async () => {
    process.env['MILLRACE_TEST_SECRET'] = 'canary';
    const dataDir = scratchDir();
    const shell = ['/bin/sh', '-c', 'env; echo "$@"', 'sh'];
    const server: OwnOptions = {
      mode: 'own',
      command: shell,
      cwd: dataDir,
      dataDir,
      cudaDevice: 3,
      environment: { GIVEN: 'yes' },
    };
    const started = await ComfyuiProcess.spawn({
      server,
      previewMethod: 'auto',
      killGraceMs: 1_000,
      onLog: () => undefined,
    });
    await started.exited;
    delete process.env['MILLRACE_TEST_SECRET'];
    expect(started.lastWords).not.toContain('canary');
    expect(started.lastWords).toMatch(/^GIVEN=yes$/m);
    expect(started.lastWords).toContain(`--output-directory ${dataDir}/output`);
    expect(started.lastWords).toContain('--disable-metadata');
    expect(started.lastWords).toContain('--cuda-device 3');
    expect(existsSync(started.folders.input)).toBe(true);
  });

  it('does not outlive the worker, though that is killed without a word', async () => {
    const dir = scratchDir();
    const { code } = transformFileSync(join(__dirname, 'comfyui.process.ts'), {
      swcrc: false,
      jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
      module: { type: 'commonjs' },
    });
    writeFileSync(join(dir, 'process.js'), code);
    const options = { server: ownServer(['--ignore-term']), previewMethod: 'none', killGraceMs: 1_000 };
    const script = `require('./process.js').ComfyuiProcess.spawn({ ...${JSON.stringify(options)}, onLog() {} })
      .then(async (own) => {
        while (!(await fetch(own.url + '/prompt').catch(() => null))) await new Promise((resolve) => setTimeout(resolve, 20));
        console.log(own.pid);
      });`;
    const worker = spawn(process.execPath, ['-e', script], { cwd: dir, stdio: ['ignore', 'pipe', 'inherit'] });
    const printed = await new Promise<string>((resolve) =>
      worker.stdout.once('data', (data: Buffer) => resolve(data.toString())),
    );
    const pid = Number(printed);
    expect(isAlive(pid)).toBe(true);
    worker.kill('SIGKILL');
    await whenGone(pid);
  });
});

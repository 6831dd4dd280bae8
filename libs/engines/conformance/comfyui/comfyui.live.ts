import { execFileSync } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { scratchDir, startRun } from '../run-workflow';
import { engineConformance } from '../engine.conformance';
import type { AttachOptions, OwnOptions } from '../../src/comfyui/comfyui.config';
import { ComfyuiEngine } from '../../src/comfyui/comfyui.engine';
import { ownComfyuiSuite } from './own-comfyui.conformance';
import { comfyuiSuite } from './comfyui.conformance';
import { comfyuiUnderTest } from './comfyui-under-test';
import { CHECKPOINTS, gpuSuite } from './gpu.conformance';

/** The suites of the simulator against a real ComfyUI. Run by `scripts/test-comfyui.mjs`, which says what it needs. */
const url = process.env['MILLRACE_COMFYUI_URL'];
const dir = process.env['MILLRACE_COMFYUI_DIR'];
const python = process.env['MILLRACE_COMFYUI_PYTHON'] ?? 'python3';
const hasGpu = process.env['MILLRACE_COMFYUI_GPU'] === '1';

jest.setTimeout(180_000);

async function open(server: AttachOptions | OwnOptions) {
  const engine = new ComfyuiEngine({ server });
  await engine.start();
  return { engine, close: () => engine.close() };
}

async function openUnderTest(server: AttachOptions | OwnOptions) {
  const { engine, close } = await open(server);
  return comfyuiUnderTest(engine, close);
}

if (url) {
  const server: AttachOptions = { mode: 'attach', url };
  engineConformance(`ComfyUI at ${url}`, () => openUnderTest(server));
  comfyuiSuite(`ComfyUI at ${url}`, () => open(server));
}

if (url) {
  it('receives the events of a run again after another socket of its client id took its place and closed', async () => {
    const engine = new ComfyuiEngine({ server: { mode: 'attach', url }, bounds: { muteMs: 300, pollMs: 100 } });
    await engine.start();
    const run = startRun(engine, {
      '1': { class_type: 'TestSteps', inputs: { steps: 80, seconds_per_step: 0.05, salt: Date.now() } },
      '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'mute' } },
    });
    await run.seen('node_step');
    const queue = (await (await fetch(`${url}/queue`)).json()) as { queue_running: [unknown[]] };
    const { client_id } = queue.queue_running[0][3] as { client_id: string };
    const impostor = new WebSocket(`${url.replace(/^http/, 'ws')}/ws?clientId=${client_id}`);
    await new Promise((resolve) => impostor.once('message', resolve));
    impostor.terminate();
    expect(await run.result).toEqual({ status: 'succeeded' });
    const steps = run.events.flatMap((event) => (event.type === 'node_step' ? [event.step] : []));
    expect(steps.at(-1)).toBe(80);
    expect(steps.length).toBeLessThan(80);
    await engine.close();
  });
}

if (dir) {
  const own = (more: string[] = []): OwnOptions => ({
    mode: 'own',
    command: [python, 'main.py'],
    cwd: dir,
    dataDir: scratchDir(),
    extraArguments: [
      ...(process.env['MILLRACE_COMFYUI_ARGUMENTS'] ?? '').split(' ').filter((argument) => argument !== ''),
      ...more,
    ],
  });
  engineConformance(`ComfyUI in ${dir}`, () => openUnderTest(own()));
  comfyuiSuite(`ComfyUI in ${dir}`, () => open(own()));
  ownComfyuiSuite(`ComfyUI in ${dir}, when it fails`, () => own());
  if (hasGpu) {
    gpuSuite(`ComfyUI in ${dir}, on a GPU`, () => own(makeModels(dir)));
  }
}

/** The arguments that show the checkpoints of the suite, made here, to a ComfyUI. */
function makeModels(cwd: string): string[] {
  const folder = scratchDir();
  const [first, second] = CHECKPOINTS;
  execFileSync(python, [join(__dirname, 'random_checkpoint.py'), join(folder, first)], { cwd });
  copyFileSync(join(folder, first), join(folder, second));
  const paths = join(folder, 'paths.yaml');
  writeFileSync(paths, `test:\n  checkpoints: ${folder}\n`);
  return ['--extra-model-paths-config', paths];
}

import { WebSocket } from 'ws';
import { scratchDir, startRun } from '../../fixtures/run-workflow';
import type { OwnOptions } from './comfyui.config';
import { ComfyuiEngine } from './comfyui.engine';
import { ownComfyuiSuite } from './own-comfyui.conformance';
import { comfyuiSuite } from './comfyui.conformance';

/** The suites of the simulator against a real ComfyUI. Run by `scripts/test-comfyui.mjs`, which says what it needs. */
const url = process.env['MILLRACE_COMFYUI_URL'];
const dir = process.env['MILLRACE_COMFYUI_DIR'];
const python = process.env['MILLRACE_COMFYUI_PYTHON'] ?? 'python3';

jest.setTimeout(180_000);

if (url) {
  comfyuiSuite(`ComfyUI at ${url}`, async () => {
    const engine = new ComfyuiEngine({ server: { mode: 'attach', url } });
    await engine.start();
    return { engine, close: () => engine.close() };
  });
}

if (url) {
  it('hears of a run again after another socket of its client id took its place and closed', async () => {
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
  const own = (): OwnOptions => ({
    mode: 'own',
    command: [python, 'main.py'],
    cwd: dir,
    dataDir: scratchDir(),
    extraArguments: (process.env['MILLRACE_COMFYUI_ARGUMENTS'] ?? '').split(' ').filter((argument) => argument !== ''),
  });
  comfyuiSuite(`ComfyUI in ${dir}`, async () => {
    const engine = new ComfyuiEngine({ server: own() });
    await engine.start();
    return { engine, close: () => engine.close() };
  });
  ownComfyuiSuite(`ComfyUI in ${dir}, when it fails`, own);
}

import { ComfyuiSimulator } from '@millrace/testing';
import { ComfyuiEngine } from './comfyui.engine';
import { comfyuiSuite } from './comfyui.conformance';

comfyuiSuite('an engine attached to a ComfyUI elsewhere', async () => {
  const simulator = await ComfyuiSimulator.start();
  const engine = new ComfyuiEngine({ server: { mode: 'attach', url: simulator.url } });
  await engine.start();
  return { engine, close: () => engine.close().then(() => simulator.stop()) };
});

comfyuiSuite('an engine attached to a ComfyUI whose folders it has', async () => {
  const simulator = await ComfyuiSimulator.start({ hasJobsApi: true });
  const { url, folders } = simulator;
  const engine = new ComfyuiEngine({ server: { mode: 'attach', url, folders } });
  await engine.start();
  return { engine, close: () => engine.close().then(() => simulator.stop()) };
});

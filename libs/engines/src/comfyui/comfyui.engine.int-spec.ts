import { ComfyuiSimulator } from '@millrace/testing';
import { engineConformance } from '../../conformance/engine.conformance';
import type { AttachOptions } from './comfyui.config';
import { ComfyuiEngine } from './comfyui.engine';
import { comfyuiSuite } from '../../conformance/comfyui/comfyui.conformance';
import { comfyuiUnderTest } from '../../conformance/comfyui/comfyui-under-test';

type Way = (simulator: ComfyuiSimulator) => AttachOptions;

const elsewhere: Way = ({ url }) => ({ mode: 'attach', url });
const within: Way = ({ url, folders }) => ({ mode: 'attach', url, folders });

async function open(way: Way, hasJobsApi: boolean) {
  const simulator = await ComfyuiSimulator.start({ hasJobsApi, keepsTime: true });
  const engine = new ComfyuiEngine({ server: way(simulator) });
  await engine.start();
  return { engine, close: () => engine.close().then(() => simulator.stop()) };
}

describe.each([
  ['attached to a ComfyUI elsewhere', elsewhere, false],
  ['attached to a ComfyUI whose folders it has', within, true],
] as const)('an engine %s', (name, way, hasJobsApi) => {
  comfyuiSuite(name, () => open(way, hasJobsApi));

  engineConformance(name, async () => {
    const { engine, close } = await open(way, hasJobsApi);
    return comfyuiUnderTest(engine, close);
  });
});

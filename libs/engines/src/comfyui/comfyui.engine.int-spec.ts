import { ComfyuiSimulator, type SimulatedVersion } from '@millrace/testing';
import { engineConformance } from '../../conformance/engine.conformance';
import type { AttachOptions } from './comfyui.config';
import { ComfyuiEngine } from './comfyui.engine';
import { comfyuiSuite } from '../../conformance/comfyui/comfyui.conformance';
import { comfyuiUnderTest } from '../../conformance/comfyui/comfyui-under-test';

type Way = (simulator: ComfyuiSimulator) => AttachOptions;

const elsewhere: Way = ({ url }) => ({ mode: 'attach', url });
const within: Way = ({ url, folders }) => ({ mode: 'attach', url, folders });

async function open(way: Way, version: SimulatedVersion) {
  const simulator = await ComfyuiSimulator.start({ version, keepsTime: true });
  const engine = new ComfyuiEngine({ server: way(simulator) });
  await engine.start();
  return { engine, close: () => engine.close().then(() => simulator.stop()) };
}

describe.each([
  ['attached to a ComfyUI elsewhere', elsewhere, '0.3.64'],
  ['attached to a later ComfyUI whose folders it has', within, '0.33.0'],
] as const)('an engine %s', (name, way, version) => {
  comfyuiSuite(name, () => open(way, version));

  engineConformance(name, async () => {
    const { engine, close } = await open(way, version);
    return comfyuiUnderTest(engine, close);
  });
});

import type { EngineUnderTest } from '../engine.conformance';
import type { ComfyuiEngine } from '../../src/comfyui/comfyui.engine';

const save = (from: string) => ({ class_type: 'SaveImage', inputs: { images: [from, 0], filename_prefix: 'kept' } });
const salt = (): number => Math.floor(Math.random() * 1e9);
const steps = (count: number, secondsPerStep: number) => ({
  class_type: 'TestSteps',
  inputs: { steps: count, seconds_per_step: secondsPerStep, salt: salt() },
});

/** An engine on a ComfyUI that has the test nodes, for the suite that every engine passes. */
export function comfyuiUnderTest(engine: ComfyuiEngine, close: () => Promise<void>): EngineUnderTest {
  return {
    engine,
    close,
    failing: {
      graph: {
        '1': {
          class_type: 'TestFail',
          inputs: { message: 'at /srv/secret/a.bin', after_steps: 1, kind: 'ValueError', salt: salt() },
        },
        '2': save('1'),
      },
      nodeId: '1',
      classType: 'TestFail',
    },
    // Later versions pass on at most one step in 100 ms, of those between the first and the last.
    stepping: { graph: { '1': steps(5, 0.15), '2': save('1') }, nodeId: '1', steps: 5 },
    endless: { '1': steps(100_000, 0.05), '2': save('1') },
    // Two rounds of asking, and the step that notices.
    interruptBoundMs: 2_000,
    talkative: {
      graph: { '1': { class_type: 'TestStdout', inputs: { text: 'printed', lines: 2, salt: salt() } }, '2': save('1') },
      lines: [/STDOUT printed 0/, /LOGGING printed 0/, /STDOUT printed 1/, /LOGGING printed 1/],
    },
  };
}

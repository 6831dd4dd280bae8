import { engineConformance } from '@millrace/engines/conformance';
import { CpuEngine } from './cpu.engine';

const save = (from: string) => ({ class_type: 'SaveImage', inputs: { images: [from, 0], filename_prefix: 'kept' } });

engineConformance('the CPU engine', async () => {
  const engine = new CpuEngine();
  await engine.start();
  return {
    engine,
    close: () => engine.close(),
    failing: {
      graph: {
        '1': { class_type: 'EmptyImage', inputs: { width: 8, height: 8, batch_size: 1, color: 0 } },
        '2': { class_type: 'ImageBlur', inputs: { image: ['1', 0], blur_radius: 9, sigma: 1 } },
        '3': save('2'),
      },
      nodeId: '2',
      classType: 'ImageBlur',
    },
    stepping: {
      graph: {
        '1': {
          class_type: 'MillraceReactionDiffusion',
          inputs: { width: 64, height: 64, steps: 5, seed: 1, feed: 0.037, kill: 0.06 },
        },
        '2': save('1'),
      },
      nodeId: '1',
      steps: 5,
    },
    endless: {
      '1': {
        class_type: 'MillraceReactionDiffusion',
        inputs: { width: 512, height: 512, steps: 100_000, seed: 1, feed: 0.037, kill: 0.06 },
      },
      '2': save('1'),
    },
    // Beside other tests; cpu.cancel.timing-spec.ts holds it to 100 ms.
    interruptBoundMs: 2_000,
    talkative: {
      graph: {
        '1': { class_type: 'EmptyImage', inputs: { width: 8, height: 8, batch_size: 1, color: 0 } },
        '2': { class_type: 'ImageInvert', inputs: { image: ['1', 0] } },
        '3': save('2'),
      },
      lines: [/EmptyImage \(1\)/, /ImageInvert \(2\)/, /SaveImage \(3\)/],
    },
  };
});

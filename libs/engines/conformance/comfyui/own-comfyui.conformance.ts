import { startRun, type Graph } from '../run-workflow';
import type { ComfyuiBounds, OwnOptions } from '../../src/comfyui/comfyui.config';
import { ComfyuiEngine } from '../../src/comfyui/comfyui.engine';

const save = { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'out' } };
const STEPPING: Graph = {
  '1': { class_type: 'TestSteps', inputs: { steps: 3, seconds_per_step: 0, salt: 1 } },
  '2': save,
};
const SLEEPING: Graph = { '1': { class_type: 'TestSleep', inputs: { seconds: 600, salt: 1 } }, '2': save };
const EXITING: Graph = {
  '1': { class_type: 'TestFail', inputs: { message: '', after_steps: 1, kind: 'SystemExit', salt: 1 } },
  '2': save,
};

/** What becomes of a ComfyUI of the engine's own that dies, hangs or does not listen. */
export function ownComfyuiSuite(name: string, ownServer: () => OwnOptions): void {
  describe(name, () => {
    let engine: ComfyuiEngine;
    const notices: string[] = [];

    async function open(bounds: Partial<ComfyuiBounds> = {}): Promise<void> {
      engine = new ComfyuiEngine({
        server: ownServer(),
        bounds: { pollMs: 50, cancelEveryMs: 50, killGraceMs: 1_000, ...bounds },
        onNotice: (notice) => notices.push(notice),
      });
      await engine.start();
    }

    afterEach(async () => {
      await engine.close();
      notices.length = 0;
    });

    it('is replaced when it dies in a run, which is lost', async () => {
      await open();
      const run = startRun(engine, SLEEPING);
      await run.seen('node_started');
      process.kill(-pidOf(engine), 'SIGKILL');
      expect(await run.result).toMatchObject({ status: 'lost', reason: 'The ComfyUI process ended during the run.' });
      expect(await startRun(engine, STEPPING).result).toEqual({ status: 'succeeded' });
    });

    it('is replaced when it hangs', async () => {
      await open({ silenceMs: 200 });
      expect(await startRun(engine, EXITING).result).toMatchObject({ status: 'lost' });
      expect(await startRun(engine, STEPPING).result).toEqual({ status: 'succeeded' });
      expect(notices).toContain('ComfyUI is being replaced.');
    });

    it('is replaced when it ignores an interrupt: the run has stopped then', async () => {
      await open({ interruptGraceMs: 200 });
      const run = startRun(engine, SLEEPING);
      await run.seen('node_started');
      run.abort();
      expect(await run.result).toEqual({ status: 'interrupted' });
      expect(await startRun(engine, STEPPING).result).toEqual({ status: 'succeeded' });
    });

    it.each([
      ['device-side assert triggered', { status: 'failed', failure: { nodeId: '1', classType: 'TestFail' } }],
      [
        'an illegal memory access was encountered',
        {
          status: 'lost',
          reason: 'The GPU broke down in node 1: CUDA error: an illegal memory access was encountered.',
        },
      ],
    ])('is replaced when its GPU takes no more work: %s', async (what, expected) => {
      await open();
      const before = pidOf(engine);
      const message = `CUDA error: ${what}\nCUDA kernel errors might be reported later.`;
      const inputs = { message, after_steps: 1, kind: 'AcceleratorError', salt: 1 };
      const run = startRun(engine, { '1': { class_type: 'TestFail', inputs }, '2': save });
      expect(await run.result).toMatchObject(expected);
      expect(await startRun(engine, STEPPING).result).toEqual({ status: 'succeeded' });
      expect(pidOf(engine)).not.toBe(before);
    });

    it.each([
      [
        'CUDA error: device-side assert triggered',
        {
          status: 'failed',
          failure: {
            code: 'node_execution_error',
            message:
              'Code on the GPU refused what this node gave it: an index out of range, for example. The log of the job names the assertion.',
            nodeId: '1',
            classType: 'TestAbort',
            traceback: null,
          },
        },
      ],
      [
        'CUDA error: an illegal memory access was encountered',
        {
          status: 'lost',
          reason: 'The GPU broke down in node 1: CUDA error: an illegal memory access was encountered.',
        },
      ],
      ['bad_alloc', { status: 'lost', reason: 'The ComfyUI process ended during the run.' }],
    ])('is replaced when it aborts for what it last said: %s', async (what, expected) => {
      await open();
      const run = startRun(engine, { '1': { class_type: 'TestAbort', inputs: { what, salt: 1 } }, '2': save });
      expect(await run.result).toEqual(expected);
      expect(await startRun(engine, STEPPING).result).toEqual({ status: 'succeeded' });
    });

    it('is replaced on demand, and knows no models then', async () => {
      await open();
      const before = pidOf(engine);
      await engine.reset();
      expect(pidOf(engine)).not.toBe(before);
      await whenGone(before);
      expect(await engine.health()).toMatchObject({ ready: true, residentModels: [] });
    });
  });
}

/** The group's id: that of the process that was started. */
export function pidOf(engine: ComfyuiEngine): number {
  const pid = engine.processId;
  if (pid === null) throw new Error('The engine has no process.');
  return pid;
}

export async function whenGone(group: number): Promise<void> {
  while (isAlive(group)) await new Promise((resolve) => setImmediate(resolve));
}

/** True while any process of the group is there. */
export function isAlive(group: number): boolean {
  try {
    process.kill(-group, 0);
    return true;
  } catch {
    return false;
  }
}

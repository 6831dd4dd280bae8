import type { DispatchMessage } from '@millrace/contracts';
import type { Engine } from '@millrace/engines';
import { createLogger } from '@millrace/platform';
import type { EngineSlot } from './engine-slot';
import { EngineSlots } from './engine-slots';

const MESSAGE: DispatchMessage = { jobId: 'job', attempt: 1 };

/** An engine that is asked for its health alone. */
const engine = (ready: boolean): Engine =>
  ({
    health: () => Promise.resolve({ ready, problem: null, version: 'test', residentModels: [] }),
  }) as unknown as Engine;

/** Engines that have reported how they are, in the order in which they became free. */
async function slotsOf(...ready: boolean[]): Promise<EngineSlots> {
  const slots = new EngineSlots(ready.map(engine), createLogger('test', 'silent'));
  await slots.healths();
  return slots;
}

/** Occupy an engine. @returns whether it is sick, and what is left to another worker. */
async function occupied(slots: EngineSlots): Promise<{ sick: boolean[]; left: DispatchMessage | null }> {
  const begun: EngineSlot[] = [];
  const left = await slots.occupy(MESSAGE, (slot, release) => {
    begun.push(slot);
    release({ left: null, hasRun: true });
  });
  return { sick: begun.map(({ isSick }) => isSick), left };
}

describe('the engines of a worker', () => {
  it('are given work where they are well, in whichever order they became free', async () => {
    for (const ready of [
      [true, false],
      [false, true],
    ]) {
      const slots = await slotsOf(...ready);
      expect([slots.capacity, slots.haveSick]).toEqual([1, true]);
      expect(await occupied(slots)).toEqual({ sick: [false], left: null });
    }
  });

  it('leave a message to another worker when all of them are sick', async () => {
    const slots = await slotsOf(false, false);
    expect(slots.capacity).toBe(0);
    expect(await occupied(slots)).toEqual({ sick: [], left: MESSAGE });
  });
});

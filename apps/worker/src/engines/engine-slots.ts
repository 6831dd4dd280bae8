import type { DispatchMessage } from '@millrace/contracts';
import type { Engine, EngineHealth } from '@millrace/engines';
import { isWarm } from '@millrace/jobs';
import type { Logger } from '@millrace/platform';
import { EngineSlot } from './engine-slot';
import { Pace } from './pace';

/** How an engine was freed: whether it ran an attempt, and the hint of one that is left to another worker. */
export interface Release {
  left: DispatchMessage | null;
  hasRun: boolean;
}

/** The engines of a worker, and which of them have nothing to do. */
export class EngineSlots {
  private readonly all: readonly EngineSlot[];
  private readonly free: EngineSlot[];
  private readonly pace = new Pace();

  constructor(engines: readonly Engine[], logger: Logger) {
    this.all = engines.map((engine) => new EngineSlot(engine, logger));
    this.free = [...this.all];
  }

  healths(): Promise<EngineHealth[]> {
    return Promise.all(this.all.map((slot) => slot.health()));
  }

  /** What an attempt occupies its engine for of late, in whole milliseconds; null until there was one. */
  get attemptMs(): number | null {
    return this.pace.attemptMs;
  }

  /**
   * Occupy a free engine, of several one that holds the hint's models. Resolves when it is free again.
   *
   * @param begin called at once; its `release` frees the engine, and the first call counts.
   * @returns the hint that is left to another worker; null where there is none, and where no engine is free.
   */
  async occupy(
    hint: DispatchMessage,
    begin: (slot: EngineSlot, release: (release: Release) => void) => void,
  ): Promise<DispatchMessage | null> {
    const at = this.free.findLastIndex((slot) => isWarm(hint, slot.warm));
    const [slot] = this.free.splice(at, 1);
    if (slot === undefined) return null;
    const since = performance.now();
    const { left, hasRun } = await new Promise<Release>((release) => begin(slot, release));
    this.free.push(slot);
    if (hasRun) this.pace.add(performance.now() - since);
    return left;
  }
}

import type { DispatchMessage } from '@millrace/contracts';
import type { Engine, EngineHealth } from '@millrace/engines';
import { isWarm } from '@millrace/jobs';
import type { Logger } from '@millrace/platform';
import { EngineSlot } from './engine-slot';
import { Pace } from './pace';

/** How an engine was freed: whether it ran an attempt, and the message of one that is left to another worker. */
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

  /** How long an attempt has occupied its engine of late, in whole milliseconds; null until there was one. */
  get attemptMs(): number | null {
    return this.pace.attemptMs;
  }

  /**
   * Occupy a free engine, of several one that holds the models that the message names. Resolves when it is free again.
   *
   * @param begin called at once; its `release` frees the engine, and the first call counts.
   * @returns the message that is left to another worker; null where there is none, and where no engine is free.
   */
  async occupy(
    message: DispatchMessage,
    begin: (slot: EngineSlot, release: (release: Release) => void) => void,
  ): Promise<DispatchMessage | null> {
    const at = this.free.findLastIndex((slot) => isWarm(message, slot.warm));
    const [slot] = this.free.splice(at, 1);
    if (slot === undefined) return null;
    const since = performance.now();
    const { left, hasRun } = await new Promise<Release>((release) => begin(slot, release));
    this.free.push(slot);
    if (hasRun) this.pace.add(performance.now() - since);
    return left;
  }
}

import type { DispatchMessage } from '@millrace/contracts';
import type { Engine, EngineHealth } from '@millrace/engines';
import { isWarm } from '@millrace/jobs';
import type { Logger } from '@millrace/platform';
import { EngineSlot } from './engine-slot';
import { Pace } from './pace';
import type { WarmUpTimes } from './warmth';

/** How an engine was freed: whether it ran an attempt, and the message of one that is left to another worker. */
export interface Release {
  left: DispatchMessage | null;
  hasRun: boolean;
}

/** The engines of a worker, which of them have nothing to do, and which are sick. */
export class EngineSlots {
  private readonly all: readonly EngineSlot[];
  /** The one that was freed last is the last. */
  private readonly free: Set<EngineSlot>;
  private readonly pace = new Pace();

  /**
   * @param warmUp what an engine is to do before its first run, and after each restart; null: nothing.
   * @param fault why an engine that is ready may be given no run; null: it may. Never rejects.
   */
  constructor(
    engines: readonly Engine[],
    logger: Logger,
    warmUp: ((engine: Engine) => Promise<WarmUpTimes>) | null = null,
    fault: (engine: Engine) => Promise<string | null> = () => Promise.resolve(null),
  ) {
    this.all = engines.map(
      (engine) => new EngineSlot(engine, logger, undefined, warmUp && (() => warmUp(engine)), () => fault(engine)),
    );
    this.free = new Set(this.all);
  }

  /** Warm all engines up, at once. @returns what the slowest took. @throws when one fails. */
  async warmUp(): Promise<WarmUpTimes> {
    const times = await Promise.all(this.all.map((slot) => slot.warmUp()));
    return {
      modelsMs: longest(times.map(({ modelsMs }) => modelsMs)),
      warmUpMs: longest(times.map(({ warmUpMs }) => warmUpMs)),
    };
  }

  /** Ask every engine how it is; one that is free and not ready is sick from then on, until it is ready again. */
  healths(): Promise<EngineHealth[]> {
    return Promise.all(this.all.map((slot) => slot.health()));
  }

  /** Attempts that can be under way at once: one for each engine that is occupied, or free and not sick. */
  get capacity(): number {
    return this.all.filter((slot) => !this.free.has(slot) || !slot.isSick).length;
  }

  get haveSick(): boolean {
    return this.all.some((slot) => slot.isSick);
  }

  /** How long recent attempts occupied their engine, in whole milliseconds (a mean); null until there was one. */
  get attemptMs(): number | null {
    return this.pace.attemptMs;
  }

  /**
   * Occupy a free engine, of several one that holds the models that the message names. Resolves when it is free again.
   *
   * @param begin called at once; its `release` frees the engine, and the first call counts.
   * @returns the message that is left to another worker, also where no engine can be given it; null where there is none.
   */
  async occupy(
    message: DispatchMessage,
    begin: (slot: EngineSlot, release: (release: Release) => void) => void,
  ): Promise<DispatchMessage | null> {
    const usable = [...this.free].filter((slot) => !slot.isSick);
    const slot = usable.findLast(({ warm }) => isWarm(message, warm)) ?? usable.at(-1);
    if (slot === undefined) return message;
    this.free.delete(slot);
    const since = performance.now();
    const { left, hasRun } = await new Promise<Release>((release) => begin(slot, release));
    this.free.add(slot);
    if (hasRun) this.pace.add(performance.now() - since);
    return left;
  }
}

function longest(times: readonly (number | null)[]): number | null {
  const known = times.filter((time) => time !== null);
  return known.length === 0 ? null : Math.max(...known);
}

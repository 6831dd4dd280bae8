import type { Engine, EngineResult, EngineRunContext, EngineWork } from '@millrace/engines';
import type { Logger } from '@millrace/platform';

/** An engine has its own bound to answer an interrupt (20 s at most); well past it, it is replaced from outside. */
const INTERRUPT_GRACE_MS = 40_000;

/** One engine and the promise that a run on it ends, even when the engine does not keep its own. */
export class EngineSlot {
  constructor(
    readonly engine: Engine,
    private readonly logger: Logger,
  ) {}

  async run(work: EngineWork, context: EngineRunContext): Promise<EngineResult> {
    let timer: NodeJS.Timeout | undefined;
    const ignored = new Promise<EngineResult>((resolve) => {
      const arm = (): void => {
        timer = setTimeout(() => {
          this.logger.error({ run: work.runId }, 'the engine ignored an interrupt and is replaced');
          void this.engine
            .reset()
            .catch((error: unknown) => this.logger.error({ err: error }, 'the engine could not be replaced'))
            .finally(() => resolve({ status: 'interrupted' }));
        }, INTERRUPT_GRACE_MS);
      };
      if (context.signal.aborted) arm();
      else context.signal.addEventListener('abort', arm, { once: true });
    });
    try {
      return await Promise.race([this.engine.run(work, context), ignored]);
    } finally {
      clearTimeout(timer);
    }
  }
}

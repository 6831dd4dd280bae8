import { createContext, Script } from 'node:vm';
import { NodeFault } from '../node-api/node-fault';

/** Started through `vm` for its timeout alone: V8 ends what runs below it, a regular expression among it. Not a sandbox. */
const RUN = new Script('run()');

/** What one node may spend in code that can not poll for an interrupt, over all its calls. */
export class Deadline {
  private readonly globals: { run?: () => void } = {};
  private readonly context = createContext(this.globals);
  private leftMs: number;

  constructor(private readonly limitMs: number) {
    this.leftMs = limitMs;
  }

  /** @throws {NodeFault} when the time is up; `part` is broken off. `cure` is a sentence for the workflow's author. */
  run<T>(part: () => T, cure: string): T {
    const late = new NodeFault(`This node computed for ${this.limitMs / 1000} s and was stopped. ${cure}`);
    if (this.leftMs < 1) throw late;
    let result: T | undefined;
    this.globals.run = () => void (result = part());
    const startedAt = performance.now();
    try {
      RUN.runInContext(this.context, { timeout: Math.ceil(this.leftMs) });
    } catch (error) {
      throw (error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT' ? late : error;
    } finally {
      this.leftMs -= performance.now() - startedAt;
    }
    return result as T;
  }
}

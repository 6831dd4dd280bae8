import type { EngineEvent } from '@millrace/engines';
import { Deadline } from './deadline';
import type { InputFiles } from './input-files';
import type { MemoryBudget } from './memory-budget';
import type { NewFile, NodeContext } from '../node-api/node-context';
import type { OutputFolder } from './output-folder';
import { RunInterrupted } from '../node-api/work';

/** What every node of one run shares. */
export interface RunResources {
  emit: (event: EngineEvent) => void;
  isInterrupted: () => boolean;
  budget: MemoryBudget;
  inputs: InputFiles;
  outputs: OutputFolder;
}

/** Of a node, for regular expressions: some that look harmless take longer than the world has existed. */
const UNPOLLED_MS = 2_000;

/** The run as one of its nodes sees it. */
export class RunContext implements NodeContext {
  private outputCount = 0;
  private deadline: Deadline | undefined;

  constructor(
    readonly nodeId: string,
    private readonly resources: RunResources,
  ) {}

  checkpoint(): void {
    if (this.resources.isInterrupted()) throw new RunInterrupted();
  }

  floats(count: number): Float32Array {
    this.reserve(count * Float32Array.BYTES_PER_ELEMENT);
    return new Float32Array(count);
  }

  bytes(count: number): Uint8Array {
    this.reserve(count);
    return new Uint8Array(count);
  }

  reserve(bytes: number): void {
    this.checkpoint();
    this.resources.budget.charge(bytes);
  }

  temporarily<T>(part: () => T): T {
    const { budget } = this.resources;
    const { charged } = budget;
    const result = part();
    if (result instanceof Promise) return result.finally(() => budget.giveBack(charged)) as T;
    budget.giveBack(charged);
    return result;
  }

  withinDeadline<T>(part: () => T, cure: string): T {
    this.deadline ??= new Deadline(UNPOLLED_MS);
    return this.deadline.run(part, cure);
  }

  async readInput(name: string): Promise<Buffer> {
    const { sizeBytes, read } = await this.resources.inputs.open(name);
    this.reserve(sizeBytes);
    return read();
  }

  step(step: number, steps: number): void {
    this.resources.emit({ type: 'node_step', nodeId: this.nodeId, step, steps });
  }

  preview(contentType: 'image/jpeg' | 'image/png', data: Buffer): void {
    this.resources.emit({ type: 'preview', nodeId: this.nodeId, contentType, data });
  }

  async saveFiles(file: NewFile, count: number, encode: (index: number) => Promise<Buffer>): Promise<void> {
    const { outputs, emit } = this.resources;
    const checked = (index: number): Promise<Buffer> => {
      this.checkpoint();
      return this.temporarily(() => encode(index));
    };
    await outputs.write(file, count, checked, (name, path) => {
      emit({ type: 'output', output: { nodeId: this.nodeId, index: this.outputCount++, kind: 'file', name, path } });
    });
  }

  async saveText(text: string): Promise<void> {
    const kept = await this.resources.outputs.keepText(text);
    this.resources.emit({ type: 'output', output: { nodeId: this.nodeId, index: this.outputCount++, ...kept } });
  }
}

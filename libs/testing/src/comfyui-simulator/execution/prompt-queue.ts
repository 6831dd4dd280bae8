import type { PostedGraph } from '../nodes/graph';

/** A prompt as queue and history keep it. */
export interface QueuedPrompt {
  number: number;
  promptId: string;
  graph: PostedGraph;
  extraData: Record<string, unknown>;
  outputs: string[];
  clientId: string | null;
}

export interface HistoryEntry {
  prompt: unknown[];
  outputs: Record<string, unknown>;
  status: { status_str: 'success' | 'error'; completed: boolean; messages: [string, unknown][] };
  meta: Record<string, unknown>;
}

export function itemOf({ number, promptId, graph, extraData, outputs }: QueuedPrompt): unknown[] {
  return [number, promptId, graph, extraData, outputs];
}

/** What waits, what runs, and what has ended. */
export class PromptQueue {
  readonly pending: QueuedPrompt[] = [];
  readonly history = new Map<string, HistoryEntry>();
  running: QueuedPrompt | null = null;
  private wake: (() => void) | null = null;
  private isHeld = false;

  get remaining(): number {
    return this.pending.length + (this.running ? 1 : 0);
  }

  put(prompt: QueuedPrompt): void {
    this.pending.push(prompt);
    this.pending.sort((a, b) => a.number - b.number);
    this.wake?.();
  }

  /** Prompts wait, although nothing runs, until the returned function is called. */
  hold(): () => void {
    this.isHeld = true;
    return () => {
      this.isHeld = false;
      this.wake?.();
    };
  }

  /** Resolves to the next prompt, which runs from here on. */
  async take(): Promise<QueuedPrompt> {
    while (this.isHeld || this.pending.length === 0) await new Promise<void>((resolve) => (this.wake = resolve));
    this.wake = null;
    this.running = this.pending.shift() ?? null;
    return this.running ?? (await this.take());
  }

  finish(prompt: QueuedPrompt, entry: HistoryEntry): void {
    this.running = null;
    this.history.set(prompt.promptId, entry);
  }

  remove(promptId: string): boolean {
    const at = this.pending.findIndex((prompt) => prompt.promptId === promptId);
    if (at >= 0) this.pending.splice(at, 1);
    return at >= 0;
  }
}

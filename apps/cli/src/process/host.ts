/** A stream that may be a terminal. */
export type Output = NodeJS.WritableStream & { isTTY?: boolean; columns?: number };
export type Input = NodeJS.ReadableStream & { isTTY?: boolean };

/** What the program uses of the process around it, so that a test can take the place of that process. */
export interface Host {
  stdin: Input;
  stdout: Output;
  stderr: Output;
  env: Readonly<Record<string, string | undefined>>;
  homeDir: string;
  /** Call `listener` at every Ctrl-C or request to end, until the returned function is called. */
  onInterrupt(listener: () => void): () => void;
  /** Resolve after `ms`; reject when `signal` aborts. */
  wait(ms: number, signal?: AbortSignal): Promise<void>;
  nowMs(): number;
}

import type { ComfyuiFolders } from '../comfyui.config';

/** A server to talk to: a process that this worker started, or one that somebody else runs. */
export interface HostedServer {
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Null where its folders can't be reached from here. */
  folders: ComfyuiFolders | null;
  /** Folders of its machine that no text may name, as far as they are known beforehand. */
  roots: readonly string[];
  /** Resolves when it is gone for good, to what it said last; never for a server of somebody else's. */
  gone: Promise<string>;
}

/** Who runs the server: somebody else, or this engine. */
export interface ServerHost {
  /** True when a server that hangs can be replaced. */
  readonly canReplace: boolean;
  /** The process that was started; null when there is none. */
  readonly processId: number | null;
  /** Resolves to a server that may not answer yet. */
  start(): Promise<HostedServer>;
  /** Ends what was started; at once with `kill`. Resolves when it is gone. */
  stop(kill: boolean): Promise<void>;
}

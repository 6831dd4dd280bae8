import type { RunLimits } from '@millrace/contracts';

/** Where ComfyUI keeps files, as this process reaches them. */
export interface ComfyuiFolders {
  input: string;
  output: string;
  /** The folder itself: for `--temp-directory X` that is `X/temp`. */
  temp: string;
}

/** Use a ComfyUI that somebody else runs. It must serve this engine alone. */
export interface AttachOptions {
  mode: 'attach';
  url: string;
  /** Sent with every request, e.g. for a proxy that wants a credential. */
  headers?: Record<string, string>;
  /**
   * Its folders, where this machine has them. Without, inputs are uploaded and outputs downloaded, the run's files stay on
   * the server, and what nodes save without reporting it (models) is not found.
   */
  folders?: ComfyuiFolders;
  /**
   * File that the engine makes when a run hung on the server: who runs it removes the file and restarts it then. Without, a server
   * that hangs is an operator's task.
   */
  restartFile?: string;
}

/** Run a ComfyUI of this engine's own. Needs a POSIX shell. */
export interface OwnOptions {
  mode: 'own';
  /** Program and first arguments, e.g. `['python', 'main.py']`; the flags that the engine needs are added. */
  command: string[];
  /** Working directory of the command: ComfyUI's own folder. */
  cwd: string;
  /** A folder of this engine alone, made if missing: input, output, temp, user and database are below it. */
  dataDir: string;
  /** The GPU that it uses, by number; without, the one that ComfyUI chooses. */
  cudaDevice?: number;
  /** Flags beyond, e.g. `['--cache-lru', '20']`. */
  extraArguments?: string[];
  /** A file of ComfyUI's that names more folders of models: `--extra-model-paths-config`. */
  modelPathsFile?: string;
  environment?: Record<string, string>;
}

/** Bounds in milliseconds, all of them defaults that an operator may change. */
export interface ComfyuiBounds {
  /** Until ComfyUI answers after its start. Node packs are imported before its port opens. 300 s. */
  startMs: number;
  /** Without the first answer of an attached ComfyUI until an operator is notified. 5 s. */
  quietMs: number;
  /**
   * Until one HTTP request is answered. One long call of a node under the interpreter's lock holds every answer up, so
   * that less than 10 s would take a busy server for a dead one. 20 s.
   */
  requestMs: number;
  /** Until `POST /prompt` is answered: validation of a large graph takes its time. 60 s. */
  postMs: number;
  /** Until a WebSocket is open and registered. 10 s. */
  connectMs: number;
  /** Between two pings of a socket; one that is not answered until the next ends it. 15 s. */
  pingMs: number;
  /** Between the close of a socket and the next with the same client id. 100 ms. */
  reconnectPauseMs: number;
  /** Between two looks at history, which do not depend on the socket. 1.5 s. */
  pollMs: number;
  /** Silence of a run after which its socket is opened again, doubled each time. 10 s. */
  muteMs: number;
  /** Silence of a run after which ComfyUI counts as hung: longer than its slowest silent node. 15 min. */
  silenceMs: number;
  /** A run waits while nothing runs: the thread that runs prompts is gone. 30 s. */
  stuckMs: number;
  /** Silence after the log said that the thread that runs prompts ended. 5 s. */
  deadThreadMs: number;
  /** A run waits behind a foreign one. 15 min. */
  foreignMs: number;
  /** Without any answer to HTTP in a run. 30 s. */
  unreachableMs: number;
  /** Between two requests to cancel: one can be lost around the start of a prompt. 250 ms. */
  cancelEveryMs: number;
  /** For an interrupt to take effect: its server is replaced by the 20 s after which a worker replaces an engine. 18 s. */
  interruptGraceMs: number;
  /** Between two looks for files of runs that have not changed for a day, and two signs that those of a run are in use. 1 h. */
  sweepMs: number;
  /** Between SIGTERM and SIGKILL. 5 s. */
  killGraceMs: number;
  /** After which the node classes are read again, though no other server has come: a model file may have. 60 s. */
  catalogueMs: number;
  /** For the last lines of a run's log after its end: a `print` is held back until then. 250 ms. */
  logDrainMs: number;
  /**
   * Silence of the socket of a run that has ended, after which pictures that come over it alone count as lost: longer than one of them takes
   * to be encoded and sent. 30 s.
   */
  picturesMs: number;
  /** Fetching what a run made in longer than this is worth another worker's while. 50 ms. */
  quickFetchMs: number;
}

export interface ComfyuiEngineOptions {
  server: AttachOptions | OwnOptions;
  bounds?: Partial<ComfyuiBounds>;
  /** Default those by which submissions are judged, `COMFYUI_RUN_LIMITS`. */
  limits?: Partial<Pick<RunLimits, 'maxNodes' | 'maxDepth'>>;
  /** How samplers picture their steps: `auto`, `latent2rgb`, `taesd` or `none`. Default `auto`. */
  previewMethod?: 'auto' | 'latent2rgb' | 'taesd' | 'none';
  /** Classes of the operator's node packs that take inputs which `/object_info` does not name. */
  openInputClasses?: string[];
  /**
   * Whether a model of this name has been lent to a run. Such names are left out of the catalogue, unless they were there before: they
   * are for the run that they were lent to.
   */
  isLent?: (name: string) => boolean;
  /** Standard output held for the next event: what exceeds it is cut at its head. 64 KiB. */
  logTailBytes?: number;
  /** Called with what an operator should know: restarts, lost runs. */
  onNotice?: (notice: string) => void;
}

export const DEFAULT_BOUNDS: Readonly<ComfyuiBounds> = {
  startMs: 300_000,
  quietMs: 5_000,
  requestMs: 20_000,
  postMs: 60_000,
  connectMs: 10_000,
  pingMs: 15_000,
  reconnectPauseMs: 100,
  pollMs: 1_500,
  muteMs: 10_000,
  silenceMs: 900_000,
  stuckMs: 30_000,
  deadThreadMs: 5_000,
  foreignMs: 900_000,
  unreachableMs: 30_000,
  cancelEveryMs: 250,
  interruptGraceMs: 18_000,
  sweepMs: 3_600_000,
  killGraceMs: 5_000,
  catalogueMs: 60_000,
  logDrainMs: 250,
  picturesMs: 30_000,
  quickFetchMs: 50,
};

export const DEFAULT_LOG_TAIL_BYTES = 65_536;

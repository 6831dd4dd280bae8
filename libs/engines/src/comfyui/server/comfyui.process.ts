import { spawn, type ChildProcess } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Readable, Writable } from 'node:stream';
import type { ComfyuiFolders, OwnOptions } from '../comfyui.config';

/**
 * Runs the command beside a guard that reads from descriptor 3, whose other end this process holds. When this process
 * ends, however it ends, the read does too, and the guard ends the command. The shell itself outlives the command, so that
 * its exit is the command's. `$1` is the grace period in seconds.
 */
const GUARDED = `
grace="$1"; shift
"$@" </dev/null 3<&- &
child=$!
( read -r _ <&3; kill -TERM "$child"; sleep "$grace"; kill -KILL "$child" ) >/dev/null 2>&1 &
guard=$!
exec 3<&-
trap 'kill -TERM "$child" 2>/dev/null' TERM
wait "$child"; status=$?
while kill -0 "$child" 2>/dev/null; do wait "$child"; status=$?; done
kill "$guard" 2>/dev/null
exit "$status"
`;

/** What the process is given of this one's environment: node packs read all of it, and credentials are in the rest. */
const INHERITED =
  /^(?:PATH|HOME|USER|LANG|LC_\w+|TZ|TMPDIR|LD_LIBRARY_PATH|VIRTUAL_ENV|SSL_CERT_\w+|(?:PYTHON|CUDA|NVIDIA|HIP|HSA|ROCR)\w*)$/;

/** After the exit of the process, the wait for the rest of its output. */
const CLOSE_TIMEOUT_MS = 500;

const MAX_LINE_LENGTH = 65_536;
const ERROR_TAIL_LENGTH = 4_096;

export interface ProcessOptions {
  server: OwnOptions;
  previewMethod: string;
  killGraceMs: number;
  /** Whole lines of standard output and standard error. */
  onLog(text: string): void;
}

/**
 * A ComfyUI process of our own, in a process group of its own.
 *
 * It does not outlive this process: when this one ends, even by SIGKILL, a guard ends it within `killGraceMs`. What a
 * node starts and detaches from the group is out of reach.
 */
export class ComfyuiProcess {
  readonly exited: Promise<void>;
  private isOver = false;
  private tail = '';

  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
    readonly folders: ComfyuiFolders,
    private readonly options: ProcessOptions,
  ) {
    this.exited = new Promise((resolve) => {
      child.once('error', (error) => this.finish(`${error.message}\n`, resolve));
      child.once('close', () => this.finish('', resolve));
      // Something that it started may hold its output open forever.
      child.once('exit', () => setTimeout(() => this.finish('', resolve), CLOSE_TIMEOUT_MS).unref());
    });
    for (const stream of [child.stdout, child.stderr]) if (stream) this.readLines(stream);
    // Its end is the news that `exited` carries; writing to it never happens.
    (child.stdio[3] as Writable | null)?.on('error', () => undefined);
  }

  /** Starts the command on a free port; resolves before it answers. */
  static async spawn(options: ProcessOptions): Promise<ComfyuiProcess> {
    const { command, cwd, environment, dataDir } = options.server;
    const port = await freePort();
    const folders = {
      input: join(dataDir, 'input'),
      output: join(dataDir, 'output'),
      temp: join(dataDir, 'temp', 'temp'),
    };
    for (const folder of [folders.input, folders.output, join(dataDir, 'temp'), join(dataDir, 'user')]) {
      await mkdir(folder, { recursive: true });
    }
    const graceSeconds = String(Math.ceil(options.killGraceMs / 1000));
    const guarded = ['-c', GUARDED, 'comfyui', graceSeconds, ...command, ...flags(port, options)];
    const child = spawn('/bin/sh', guarded, {
      cwd,
      env: { ...inheritedEnvironment(), PYTHONUNBUFFERED: '1', ...environment },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    });
    return new ComfyuiProcess(child, `http://127.0.0.1:${port}`, folders, options);
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  /** The end of what it printed: why it could not start stands there. */
  get lastWords(): string {
    return this.tail.trim();
  }

  /** Ends the whole group: SIGTERM, and SIGKILL after the grace period. Resolves when the process is gone. */
  async stop(): Promise<void> {
    this.signal('SIGTERM');
    const grace = new AbortController();
    const late = delay(this.options.killGraceMs, 'late' as const, { signal: grace.signal }).catch(
      () => 'gone' as const,
    );
    if ((await Promise.race([this.exited, late])) === 'late') this.signal('SIGKILL');
    grace.abort();
    await this.exited;
  }

  /** Ends it at once: for one that hangs. */
  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.exited;
  }

  private signal(signal: NodeJS.Signals): void {
    const { pid } = this.child;
    if (pid === undefined || this.isOver) return;
    try {
      process.kill(-pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }

  private finish(lastWords: string, resolve: () => void): void {
    this.tail += lastWords;
    this.isOver = true;
    resolve();
  }

  private readLines(stream: Readable): void {
    let partial = '';
    stream.setEncoding('utf8');
    stream.on('data', (chunk: string) => {
      const cut = chunk.lastIndexOf('\n') + 1;
      if (cut > 0) this.print(partial + chunk.slice(0, cut));
      partial = ((cut > 0 ? '' : partial) + chunk.slice(cut)).slice(-MAX_LINE_LENGTH);
    });
    stream.once('end', () => {
      if (partial !== '') this.print(`${partial}\n`);
    });
  }

  private print(text: string): void {
    this.tail = (this.tail + text).slice(-ERROR_TAIL_LENGTH);
    this.options.onLog(text);
  }
}

/** Everything of its own: two servers on one temporary folder delete each other's files. */
function flags(port: number, { server, previewMethod }: ProcessOptions): string[] {
  const { dataDir, cudaDevice, extraArguments, modelPathsFile } = server;
  return [
    ...['--listen', '127.0.0.1', '--port', String(port), '--disable-auto-launch', '--disable-metadata', '--log-stdout'],
    ...['--input-directory', join(dataDir, 'input'), '--output-directory', join(dataDir, 'output')],
    ...['--temp-directory', join(dataDir, 'temp'), '--user-directory', join(dataDir, 'user')],
    ...['--database-url', `sqlite:///${join(dataDir, 'user', 'comfyui.db')}`, '--preview-method', previewMethod],
    ...(modelPathsFile === undefined ? [] : ['--extra-model-paths-config', modelPathsFile]),
    ...(cudaDevice === undefined ? [] : ['--cuda-device', String(cudaDevice)]),
    ...(extraArguments ?? []),
  ];
}

function inheritedEnvironment(): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => INHERITED.test(name)));
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('No free port could be found.');
  return address.port;
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SimulatedServer, type SimulatedServerOptions } from './simulated-server';

/**
 * A ComfyUI for tests: HTTP and WebSocket as version 0.3.64 speaks them, checked against recordings of the real one.
 * Tests hold runs at nodes and steps, and make it fail: lose answers, drop sockets, forget them, hang, die, come back.
 */
export class ComfyuiSimulator {
  private constructor(
    private readonly options: SimulatedServerOptions,
    private life: SimulatedServer,
    /** A folder of its own, removed at the end; null where the folders were given. */
    private readonly dir: string | null,
  ) {}

  static async start(options: Partial<SimulatedServerOptions> = {}): Promise<ComfyuiSimulator> {
    const dir = options.folders ? null : mkdtempSync(join(tmpdir(), 'comfyui-simulator-'));
    const own = (name: string): string => join(dir ?? '', name);
    const full: SimulatedServerOptions = {
      folders: options.folders ?? { input: own('input'), output: own('output'), temp: own('temp') },
      port: options.port ?? 0,
      version: options.version ?? '0.3.64',
      picturesSteps: options.picturesSteps ?? true,
      keepsTime: options.keepsTime ?? false,
      classes: options.classes ?? {},
      modelPaths: options.modelPaths,
      toStdout: options.toStdout ?? (() => undefined),
      abort: options.abort ?? (() => undefined),
    };
    const life = await SimulatedServer.start(full);
    return new ComfyuiSimulator({ ...full, port: life.port }, life, dir);
  }

  get url(): string {
    return `http://127.0.0.1:${this.options.port}`;
  }

  /** The server of the present life. */
  get server(): SimulatedServer {
    return this.life;
  }

  get folders(): { input: string; output: string; temp: string } {
    return this.options.folders;
  }

  /** Ends as a killed process does, and stays away. */
  async kill(): Promise<void> {
    await this.life.kill();
  }

  /** Comes back after `kill`, on the same port, knowing nothing of before. */
  async revive(): Promise<void> {
    this.life = await SimulatedServer.start(this.options);
  }

  async stop(): Promise<void> {
    await this.life.kill();
    if (this.dir !== null) rmSync(this.dir, { recursive: true, force: true });
  }
}

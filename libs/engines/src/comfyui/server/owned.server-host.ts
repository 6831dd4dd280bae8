import { dirname, resolve } from 'node:path';
import { ComfyuiProcess, type ProcessOptions } from './comfyui.process';
import { FolderRunFiles } from '../files';
import { withoutTags } from '../protocol';
import type { HostedServer, ServerHost } from './server-host';

/** A ComfyUI process of this engine's own. */
export class OwnedServerHost implements ServerHost {
  readonly canReplace = true;
  private process: ComfyuiProcess | null = null;

  private readonly options: ProcessOptions;

  constructor(options: ProcessOptions) {
    const { cwd, dataDir } = options.server;
    // The process has another working directory than this one.
    this.options = { ...options, server: { ...options.server, cwd: resolve(cwd), dataDir: resolve(dataDir) } };
  }

  get processId(): number | null {
    return this.process?.pid ?? null;
  }

  async start(): Promise<HostedServer> {
    const { cwd, dataDir, command } = this.options.server;
    const spawned = await ComfyuiProcess.spawn(this.options);
    this.process = spawned;
    await new FolderRunFiles(spawned.folders).cleanAll();
    const programs = command.filter((word) => word.startsWith('/')).map((word) => dirname(word));
    return {
      url: spawned.url,
      headers: {},
      folders: spawned.folders,
      roots: [cwd, dataDir, ...programs],
      gone: spawned.exited.then(() => spawned.lastWords.split('\n').map(withoutTags).join('\n')),
    };
  }

  async stop(kill: boolean): Promise<void> {
    const ending = this.process;
    this.process = null;
    await (kill ? ending?.kill() : ending?.stop());
  }
}

import type { AttachOptions } from '../comfyui.config';
import type { HostedServer, ServerHost } from './server-host';

/** A ComfyUI that somebody else runs. */
export class AttachedServerHost implements ServerHost {
  readonly canReplace = false;
  readonly processId = null;

  constructor(private readonly options: AttachOptions) {
    if (!/^https?:\/\/[^/]/.test(options.url)) {
      throw new Error(`The address of ComfyUI, ${options.url}, does not begin with http:// or https://. Correct it.`);
    }
  }

  start(): Promise<HostedServer> {
    const { url, headers = {}, folders } = this.options;
    const roots = folders ? Object.values(folders) : [];
    return Promise.resolve({
      url,
      headers,
      folders: folders ?? null,
      roots,
      gone: new Promise<string>(() => undefined),
    });
  }

  stop(): Promise<void> {
    return Promise.resolve();
  }
}

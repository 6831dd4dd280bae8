import { UnexpectedAnswer, type ComfyuiClient, type Fetched, type FetchTarget, type ServerFile } from '../protocol';
import { InputUnavailable, type RunFiles } from './run-files';

/** Files of a server whose folders are out of reach. It has no route that removes a file: what a run leaves stays. */
export class HttpRunFiles implements RunFiles {
  constructor(private readonly client: ComfyuiClient) {}

  async stage(path: string, name: string): Promise<void> {
    const cut = name.lastIndexOf('/');
    try {
      const stored = await this.client.uploadInput(path, name.slice(0, cut), name.slice(cut + 1));
      if (stored !== name) throw new InputUnavailable('ComfyUI stored an input file under another name.');
    } catch (error) {
      throw refusalOf(error);
    }
  }

  fetch(file: ServerFile, target: FetchTarget, signal: AbortSignal): Promise<Fetched | null> {
    return this.client.download(file, target, signal);
  }

  list(): Promise<ServerFile[]> {
    return Promise.resolve([]);
  }

  clean(): Promise<void> {
    return Promise.resolve();
  }

  cleanLeft(): Promise<void> {
    return Promise.resolve();
  }

  prove(): Promise<void> {
    return Promise.resolve();
  }
}

function refusalOf(error: unknown): unknown {
  if (error instanceof UnexpectedAnswer && error.status === 413) {
    return new InputUnavailable('An input file is larger than ComfyUI accepts (its --max-upload-size).');
  }
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new InputUnavailable('An input file is not there.');
  return error;
}

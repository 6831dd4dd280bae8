import { UnexpectedAnswer, type ComfyuiClient, type Fetched, type FetchTarget, type ServerFile } from '../protocol';
import { UnusableInput, PROOF_BYTES, type RunFiles } from './run-files';
import { RUNS_FOLDER } from './run-paths';

const PROOF = `${RUNS_FOLDER}/proof`;

/** Files of a server whose folders are out of reach. It has no route that removes a file: what a run leaves stays. */
export class HttpRunFiles implements RunFiles {
  constructor(private readonly client: ComfyuiClient) {}

  async stage(path: string, name: string): Promise<void> {
    const cut = name.lastIndexOf('/');
    try {
      const stored = await this.client.uploadInput(path, name.slice(0, cut), name.slice(cut + 1));
      if (stored !== name) throw new UnusableInput('ComfyUI stored an input file under another name.');
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

  keep(): Promise<void> {
    return Promise.resolve();
  }

  clean(): Promise<void> {
    return Promise.resolve();
  }

  runs(): Promise<string[]> {
    return Promise.resolve([]);
  }

  cleanLeft(): Promise<void> {
    return Promise.resolve();
  }

  /** No route removes the proof. It is emptied instead: otherwise the next one would find room in its place. */
  async prove(): Promise<void> {
    for (const type of ['input', 'output', 'temp'] as const) {
      for (const bytes of [Buffer.alloc(PROOF_BYTES), Buffer.alloc(0)]) {
        await this.client.writeFile({ type, path: PROOF }, bytes).catch((error: unknown) => {
          throw refusalOf(error);
        });
      }
    }
  }
}

function refusalOf(error: unknown): unknown {
  if (error instanceof UnexpectedAnswer && error.status === 413) {
    return new UnusableInput('An input file is larger than ComfyUI accepts (its --max-upload-size).');
  }
  // It says no more than that it could not: the names are plain, and the folders its own.
  if (error instanceof UnexpectedAnswer && error.status === 500) {
    return Object.assign(new Error('ComfyUI could not write a file.', { cause: error }), { code: 'EIO' });
  }
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new UnusableInput('An input file is not there.');
  return error;
}

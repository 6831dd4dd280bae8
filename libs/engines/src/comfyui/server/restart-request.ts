import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';

/**
 * Asks who runs a ComfyUI to restart it: by a file, since a process of another container cannot be signalled. Who runs it removes
 * the file, and starts the next ComfyUI after that (`helm/millrace/files/run-comfyui.sh`).
 */
export class RestartRequest {
  /** @param file undefined where nobody can be asked */
  constructor(private readonly file: string | undefined) {}

  get canBeMade(): boolean {
    return this.file !== undefined;
  }

  /** It was made, and the ComfyUI is still the one that hung. */
  get isPending(): boolean {
    return this.file !== undefined && existsSync(this.file);
  }

  /** @throws {Error} when the file cannot be written */
  async make(): Promise<void> {
    if (this.file === undefined) return;
    await writeFile(this.file, '').catch((error: unknown) => {
      throw new Error(`The restart of ComfyUI was not requested: ${String(error)}`);
    });
  }
}

import type { RunFiles } from '../files';

/** Why a ComfyUI must be given no run although it is well: the disk did not take the files of the last, and does not yet. */
export class DiskTrouble {
  private suspected = false;

  /** A run has failed by the disk. */
  suspect(): void {
    this.suspected = true;
  }

  /** A sentence for an operator, or null when the folders can be written to. */
  async problemOf(files: RunFiles): Promise<string | null> {
    if (!this.suspected) return null;
    try {
      await files.prove();
    } catch (error) {
      const { code = 'unknown reason' } = error as NodeJS.ErrnoException;
      return `The folders of ComfyUI cannot be written to: ${code}.`;
    }
    this.suspected = false;
    return null;
  }
}

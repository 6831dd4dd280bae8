import { mkdir, mkdtemp, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { backoffMs, type Logger } from '@millrace/platform';

/** More than what a file system keeps beside its names: a full disk does not take it. */
const PROBE_BYTES = 64 * 1024;
/** For as long no attempt proves again what one has: of jobs that take milliseconds, it would be most of the work. */
const PROOF_MS = 1_000;
const PROBE_EVERY_MS = 500;
const PROBE_CAP_MS = 5_000;

/**
 * The folder for the files of running attempts, and whether it can be used. It counts as usable until something fails; then it is
 * probed, with pauses that grow, until a probe passes.
 */
export class WorkFolder {
  private fault: string | null = null;
  /** Probes that failed since one passed. */
  private failures = 0;
  private nextProbeMs = 0;
  private probing: Promise<void> | null = null;
  private provenMs = Number.NEGATIVE_INFINITY;

  constructor(
    readonly path: string,
    private readonly logger: Logger,
  ) {}

  /** Why no attempt can run here, for an operator; null while the folder can be used. */
  get problem(): string | null {
    return this.fault;
  }

  /**
   * Before an engine is given a run: that a folder can be made here now, or could within the last second. What an engine computes is lost
   * where it cannot.
   *
   * @throws what the disk says
   */
  async prove(): Promise<void> {
    const now = performance.now();
    if (now - this.provenMs < PROOF_MS) return;
    await mkdir(this.path, { recursive: true });
    await rmdir(await mkdtemp(join(this.path, 'proof-')));
    this.provenMs = now;
  }

  /** Something failed that may be this folder's fault: probe it now. Calls made meanwhile share one probe. Never rejects. */
  suspect(): Promise<void> {
    this.probing ??= this.probe().finally(() => (this.probing = null));
    return this.probing;
  }

  /** Begin to probe a folder that cannot be used, when it is time to. */
  recheck(): void {
    if (this.fault !== null && performance.now() >= this.nextProbeMs) void this.suspect();
  }

  private async probe(): Promise<void> {
    try {
      await mkdir(this.path, { recursive: true });
      const folder = await mkdtemp(join(this.path, 'probe-'));
      await writeFile(join(folder, 'bytes'), Buffer.alloc(PROBE_BYTES)).finally(() => rm(folder, { recursive: true }));
      this.fault = null;
      this.failures = 0;
    } catch (error) {
      const { code = 'unknown reason' } = error as NodeJS.ErrnoException;
      this.provenMs = Number.NEGATIVE_INFINITY;
      this.logger.error({ err: error }, 'the folder for the files of attempts cannot be written to');
      this.fault = `The folder for the files of attempts (MILLRACE_WORK_DIR) cannot be written to: ${code}.`;
      this.nextProbeMs = performance.now() + backoffMs(this.failures, PROBE_EVERY_MS, PROBE_CAP_MS);
      this.failures += 1;
    }
  }
}

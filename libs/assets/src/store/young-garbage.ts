import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Bytes that pass between two collections. Their garbage is all that an upload adds to the memory of a process. */
const COLLECT_BYTES = 8 * 1024 * 1024;

type Collect = (options: { type: 'minor' }) => void;

/**
 * Frees the chunks of a stream soon after they have passed. They lie outside V8's heap, and V8 by itself collects those of
 * the young generation only when they amount to 32 MiB. Measured over a first upload of 99 MiB into a folder: a
 * process grew by 13 to 23 MiB without this, and by 0.4 MiB with it. A minor collection takes about a millisecond.
 */
class YoungGarbage {
  private passed = 0;

  constructor(private readonly collect: Collect = minorCollection()) {}

  add(sizeBytes: number): void {
    this.passed += sizeBytes;
    if (this.passed < COLLECT_BYTES) return;
    this.passed = 0;
    this.collect({ type: 'minor' });
  }
}

/** V8 exposes its collector only to contexts that are made while the flag is set. */
function minorCollection(): Collect {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as Collect;
  setFlagsFromString('--no-expose-gc');
  return collect;
}

/** For all bytes that pass through this process. */
export const youngGarbage = new YoungGarbage();

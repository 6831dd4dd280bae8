import type { ModelFile } from '@millrace/contracts';

export interface StagingProgress {
  stagedBytes: number;
  totalBytes: number;
}

/** One content that a run needs, and the names under which its engine is to find it. */
export interface Wanted {
  file: ModelFile;
  targets: ModelFile[];
  /** How much of it is on the disk, as far as is known. */
  stagedBytes: number;
}

/** The models of one run, and how much of them is there. */
export class WantedModels {
  private readonly all = new Map<string, Wanted>();
  /** Of these, what is not linked yet, by digest. */
  readonly pending = new Map<string, Wanted>();
  readonly totalBytes: number;
  private reportedBytes = -1;

  constructor(
    files: readonly ModelFile[],
    private readonly onProgress: (progress: StagingProgress) => void = () => undefined,
  ) {
    for (const file of files) {
      const wanted = this.all.get(file.digest);
      if (wanted) wanted.targets.push(file);
      else this.all.set(file.digest, { file, targets: [file], stagedBytes: 0 });
    }
    this.totalBytes = sum([...this.all.values()].map(({ file }) => file.sizeBytes));
    this.reset();
  }

  get digests(): ReadonlySet<string> {
    return new Set(this.all.keys());
  }

  /** Nothing is linked. */
  reset(): void {
    for (const [digest, wanted] of this.all) this.pending.set(digest, wanted);
  }

  linked({ file }: Wanted): void {
    this.pending.delete(file.digest);
    this.report();
  }

  /** What is missing, as a sentence names it. */
  get missing(): string {
    return namesOf([...this.pending.values()]);
  }

  get names(): string {
    return namesOf([...this.all.values()]);
  }

  /** Report how much is there, where that is more than before. */
  report(): void {
    const missing = [...this.pending.values()].map(({ file, stagedBytes }) => file.sizeBytes - stagedBytes);
    const stagedBytes = Math.max(0, this.totalBytes - sum(missing));
    if (stagedBytes <= this.reportedBytes) return;
    this.reportedBytes = stagedBytes;
    this.onProgress({ stagedBytes, totalBytes: this.totalBytes });
  }
}

const SHOWN_NAMES = 500;

function namesOf(wanted: readonly Wanted[]): string {
  const names = wanted.flatMap(({ targets }) =>
    targets.map(({ folder, name, sizeBytes }) => `${folder}/${name}: ${sizeText(sizeBytes)}`),
  );
  return names.join(', ').slice(0, SHOWN_NAMES);
}

const UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB'] as const;
const UNIT_STEP = 1_000;

/** A size for people: `6.9 GB`. */
export function sizeText(bytes: number): string {
  let [value, unit] = [bytes, 0];
  for (; value >= UNIT_STEP && unit < UNITS.length - 1; unit += 1) value /= UNIT_STEP;
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`;
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

import { closeSync, openSync, readFileSync, readSync, readdirSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { blake3 } from '@napi-rs/blake-hash';
import type { DeploymentWorkers } from './deployment-workers';
import type { Member } from './member';
import type { Random } from '../random';
import { verdictOf, type Verdict } from '../verdict-of';

/** The folder of a cache of models, and the bytes that it may take. */
export interface ModelCache {
  dir: string;
  budgetBytes: number;
}

/** The workers that fetch models of the library: those of a deployment, which share a cache, and one outside with a cache of its own. */
export class ModelWorkers {
  constructor(
    private readonly workers: Pick<DeploymentWorkers, 'disappear' | 'verdict'>,
    private readonly outside: Pick<Member, 'kill'>,
    private readonly caches: readonly ModelCache[],
  ) {}

  /** Whether one of them fetches a model at this moment, or was killed while it did. */
  isFetching(): boolean {
    return this.partials().length > 0;
  }

  /** Whether a piece is there of a model that is not. */
  havePiece(): boolean {
    return this.partials().some((folder) => pieceIn(folder) !== null);
  }

  /** End all of them at once with their engines. @returns how many there were. */
  disappear(): number {
    return this.workers.disappear() + (this.outside.kill('SIGKILL') ? 1 : 0);
  }

  /**
   * Change a byte of a piece that is there of a model whose fetch was cut off. Nobody fetches it: what is hashed already is not read
   * again.
   *
   * @returns false where there is no such piece.
   */
  corrupt(random: Random): boolean {
    for (const folder of this.partials()) {
      const piece = pieceIn(folder);
      if (piece === null) continue;
      const path = join(folder, 'bytes');
      const at = Math.min(piece.number * piece.size + random.whole(0, piece.size - 1), statSync(path).size - 1);
      const file = openSync(path, 'r+');
      const byte = Buffer.alloc(1);
      readSync(file, byte, 0, 1, at);
      writeSync(file, Buffer.from([(byte[0] ?? 0) ^ 0xff]), 0, 1, at);
      closeSync(file);
      return true;
    }
    return false;
  }

  /** After the faults: the wanted workers run, and what their caches have is whole and within its budget. */
  async verdicts(): Promise<Verdict[]> {
    const workers = await this.workers.verdict();
    const found = this.caches.map(inCache);
    return [
      { ...workers, invariant: `${workers.invariant}, with models` },
      verdictOf(
        'the models of a cache are whole, and within its budget',
        found.reduce((sum, { models }) => sum + models, 0),
        found.flatMap(({ broken }) => broken),
      ),
    ];
  }

  private partials(): string[] {
    return this.caches.flatMap(partialsIn);
  }
}

function inCache(cache: ModelCache): { models: number; broken: { subject: string; detail: string }[] } {
  const folder = join(cache.dir, 'models');
  const models = namesIn(folder).map((digest) => ({ digest, bytes: readFileSync(join(folder, digest)) }));
  const wrong = models.filter(({ digest, bytes }) => blake3(bytes).toString('hex') !== digest);
  const partial = partialsIn(cache).map((path) => statSync(join(path, 'bytes')).size);
  const total = [...models.map(({ bytes }) => bytes.length), ...partial].reduce((sum, size) => sum + size, 0);
  const broken = wrong.map(({ digest }) => ({ subject: digest, detail: 'has bytes of another hash' }));
  const { budgetBytes } = cache;
  if (total > budgetBytes) broken.push({ subject: folder, detail: `takes ${total} bytes of ${budgetBytes}` });
  return { models: models.length, broken };
}

function partialsIn({ dir }: ModelCache): string[] {
  const folder = join(dir, 'partial');
  return namesIn(folder)
    .map((name) => join(folder, name))
    .filter((path) => namesIn(path).includes('done') && namesIn(path).includes('bytes'));
}

/** The first piece that is there of a model that is fetched. */
function pieceIn(folder: string): { size: number; number: number } | null {
  try {
    const [size, number] = readFileSync(join(folder, 'done'), 'utf8').split('\n')[0]?.split(' ') ?? [];
    return size === undefined || number === undefined ? null : { size: Number(size), number: Number(number) };
  } catch {
    // It was completed meanwhile.
    return null;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // It went meanwhile, or is not there yet.
    return [];
  }
}

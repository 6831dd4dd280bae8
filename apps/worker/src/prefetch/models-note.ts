import type { ModelName } from '@millrace/contracts';
import { sizeText, type StagingProgress, type Unfetched } from '@millrace/model-cache';

/** Models that a part of a note names; the others are counted. */
const NAMED = 5;
/** The longest note. */
const CHARACTERS = 1_000;

/** What did not come of the models that a deployment names. */
export interface Shortfall {
  /** Names that the library of the account does not have any more. */
  unknown: readonly ModelName[];
  unfetched: readonly Unfetched[];
}

/** That models are on their way, and how far: a part of a sentence. */
export function progressNote({ stagedBytes, totalBytes }: StagingProgress): string {
  return `its models are fetched: ${sizeText(stagedBytes)} of ${sizeText(totalBytes)}`;
}

/**
 * Why models that a deployment names are not on the disk of its worker, for its owner: parts of a sentence. Null where all are there.
 *
 * @param capacityBytes what the disk can hold of models; null where that is not known.
 */
export function shortfallNote({ unknown, unfetched }: Shortfall, capacityBytes: number | null): string | null {
  const tooLarge = unfetched.filter(({ fault }) => fault === 'too_large');
  const noRoom = unfetched.filter(({ fault }) => fault === 'disk_full');
  const failed = unfetched.filter(({ fault }) => fault !== 'too_large' && fault !== 'disk_full');
  const holds = capacityBytes === null ? '' : `, which holds ${sizeText(capacityBytes)},`;
  const parts: [readonly ModelName[], (list: string) => string][] = [
    [unknown, (list) => `the library does not have ${list}`],
    [filesOf(tooLarge), (list) => `the cache of its workers${holds} has no room for ${list}`],
    [filesOf(noRoom), (list) => `jobs have the room in the cache that is needed for ${list}`],
    [filesOf(failed), (list) => `${list} could not be fetched (${failed[0]?.fault})`],
  ];
  const said = parts.filter(([models]) => models.length > 0).map(([models, say]) => say(listOf(models)));
  return said.length === 0 ? null : `its models: ${said.join('; ')}`.slice(0, CHARACTERS);
}

function filesOf(unfetched: readonly Unfetched[]): ModelName[] {
  return unfetched.map(({ file }) => file);
}

function listOf(models: readonly ModelName[]): string {
  const named = models.slice(0, NAMED).map(({ folder, name }) => `${folder}/${name}`);
  const rest = models.length - named.length;
  return rest === 0 ? named.join(', ') : `${named.join(', ')} and ${rest} more`;
}

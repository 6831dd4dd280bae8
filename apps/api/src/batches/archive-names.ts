/** Characters of a name in an archive. */
const NAME_LENGTH = 200;
const INDEX_DIGITS = 5;

/** What some system does not take in a name of a file, or takes for more than a name. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}<>:"|?*]/gu;

/**
 * The paths of a job's outputs in the archive of its batch: a folder for each job, in it the outputs by their names. No path leads out of
 * the folder, and no two are the same, also where capitals do not count.
 *
 * @param index place of the job in the batch.
 * @param names of its outputs, in their order: the same names make the same paths.
 */
export function archivePaths(index: number, names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    const safe = safeName(name);
    let unique = safe;
    for (let copy = 2; taken.has(unique.toLowerCase()); copy += 1) unique = `${copy}-${safe}`;
    taken.add(unique.toLowerCase());
    return `${String(index).padStart(INDEX_DIGITS, '0')}/${unique}`;
  });
}

/** A name with the folders before it, without those that are none. */
function safeName(name: string): string {
  const parts = name
    .replaceAll(UNSAFE, '_')
    .split(/[/\\]/)
    .map((part) => part.trim().replace(/^\.+$/, ''))
    .filter((part) => part !== '');
  return parts.join('_').slice(-NAME_LENGTH) || 'output';
}

import type { LoopReport } from '../loop';

/**
 * Work on few items, all at once. One that fails is reported, keeps no other back, and counts as resting until the next run: alerts look there.
 *
 * @param work returns how much it changed.
 * @returns how much they changed together, once all have ended.
 * @throws the first error, when every item failed: then it is rarely the items.
 */
export async function workOnAll(
  items: readonly string[],
  work: (item: string) => Promise<number>,
  report?: LoopReport,
): Promise<number> {
  const errors: unknown[] = [];
  let changed = 0;
  await Promise.all(
    items.map(async (item) => {
      try {
        const count = await work(item);
        changed += count;
      } catch (error) {
        errors.push(error);
        report?.failed(item, error);
      }
    }),
  );
  report?.resting(errors.length);
  if (errors.length > 0 && errors.length === items.length) throw errors[0];
  return changed;
}

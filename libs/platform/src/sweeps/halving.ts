/** How a batch is done, and what becomes of items that fail. */
export interface HalvedBatch<Item> {
  /** Do all of them or none. @returns how many it changed. */
  workOn: (items: readonly Item[]) => Promise<number>;
  /** True for a failure that is not about the items: it is thrown. */
  isOutage: (error: unknown) => boolean;
  /** An item that fails alone. */
  failed: (item: Item, error: unknown) => void;
  /** Items that were done together. */
  done: (items: readonly Item[]) => void;
}

/**
 * Do items in one batch. One that fails is halved until the items that fail are alone; all others are done. With `n` items of which
 * `k` fail that takes at most 1 + 2k⌈log₂ n⌉ batches.
 *
 * @returns how many items changed.
 * @throws an outage, at once: what was done by then stays done.
 */
export async function workInHalves<Item>(items: readonly Item[], batch: HalvedBatch<Item>): Promise<number> {
  const [first] = items;
  if (first === undefined) return 0;
  try {
    const changed = await batch.workOn(items);
    batch.done(items);
    return changed;
  } catch (error) {
    if (batch.isOutage(error)) throw error;
    if (items.length === 1) {
      batch.failed(first, error);
      return 0;
    }
  }
  const middle = Math.ceil(items.length / 2);
  const changed = await workInHalves(items.slice(0, middle), batch);
  return changed + (await workInHalves(items.slice(middle), batch));
}

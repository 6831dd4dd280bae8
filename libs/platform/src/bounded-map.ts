import { LRUCache } from 'lru-cache';

/** A map with a limit of entries: beyond it, the one that was used longest ago goes. */
export class BoundedMap<V extends object | boolean> extends LRUCache<string, V> {
  /** @param onGone called with each value that leaves the map, however it does. */
  constructor(max: number, onGone?: (value: V) => void) {
    super(onGone === undefined ? { max } : { max, dispose: onGone });
  }
}

/** Bytes by name, up to a sum of their lengths: beyond it, those that were used longest ago go. What alone is longer is not kept. */
export class BoundedBytes extends LRUCache<string, Buffer> {
  constructor(maxBytes: number) {
    super({ maxSize: maxBytes, sizeCalculation: ({ length }) => Math.max(1, length) });
  }
}

import { LRUCache } from 'lru-cache';

/** A map with a limit of entries: beyond it, the one that was used longest ago goes. */
export class BoundedMap<V extends object | boolean> extends LRUCache<string, V> {
  constructor(max: number) {
    super({ max });
  }
}

import { BoundedBytes } from '@millrace/platform';
import type { RequestBody } from '../http';
import { namesIn } from './model-request';

/** Of all graphs together. */
const KEPT_BYTES = 8 * 1024 * 1024;
/** Of one: it names a few hundred models where it names many. What is read of more is not kept. */
const MAX_BYTES = 262_144;

/** What is kept of a graph. */
interface Names {
  /** Whose graph it is; null where there is none. */
  accountId: string | null;
  names: string[];
}

/** A graph in API format, and whose it is. */
interface OwnedGraph {
  accountId: string;
  workflow: string;
}

/**
 * The names of model files in graphs. To read a graph and parse it takes up to 200 ms of the event loop, and a worker asks for each of its
 * models: so it is done in turn with the other graphs of its token, and what was found is kept.
 */
export class GraphNames {
  private readonly kept = new BoundedBytes(KEPT_BYTES);

  /**
   * The names in the graph of a key.
   *
   * @param body of the request that asks.
   * @param load reads the graph; null where there is none.
   * @param keptMs how long they are kept, in milliseconds; absent for a graph that never changes.
   * @param isFresh whether the graph is to be read, no matter what is kept of it.
   * @throws Refusal `rate_limited` when too many wait; what `load` throws.
   */
  async of(
    body: Pick<RequestBody, 'graphInTurn'>,
    key: string,
    load: () => Promise<OwnedGraph | null>,
    { keptMs, isFresh = false }: { keptMs?: number; isFresh?: boolean } = {},
  ): Promise<{ accountId: string | null; names: ReadonlySet<string> }> {
    const find = (): Names | null => (isFresh ? null : this.find(key));
    // In its turn, another request may have read it meanwhile.
    const read = async (): Promise<Names> => find() ?? (await this.read(key, load, keptMs));
    const { accountId, names } = find() ?? (await body.graphInTurn(read));
    return { accountId, names: new Set(names) };
  }

  private async read(key: string, load: () => Promise<OwnedGraph | null>, keptMs?: number): Promise<Names> {
    const graph = await load();
    const found = {
      accountId: graph?.accountId ?? null,
      names: graph === null ? [] : [...namesIn(graph.workflow)],
    };
    // As bytes: a part of a text keeps all of the text in memory.
    const bytes = Buffer.from(JSON.stringify(found));
    if (bytes.length <= MAX_BYTES) this.kept.set(key, bytes, keptMs === undefined ? {} : { ttl: keptMs });
    return found;
  }

  private find(key: string): Names | null {
    const bytes = this.kept.get(key);
    return bytes === undefined ? null : (JSON.parse(bytes.toString('utf8')) as Names);
  }
}

import type { NodeCatalogue } from '@millrace/contracts';
import { readObjectInfo } from './graph';
import type { LiveServer } from './server';

export interface ServerCatalogueOptions {
  /** Classes that take inputs which `/object_info` does not name. */
  openInputClasses: readonly string[] | undefined;
  /** How long an answer of the same server holds. */
  ttlMs: number;
}

/** The cached node classes of a server. Reading them takes a second and more: the answer of a real server has megabytes. */
export class ServerCatalogue {
  private cached: { text: string; catalogue: NodeCatalogue } | null = null;
  /** On the monotonic clock; null once another server may have come. */
  private readAtMs: number | null = null;

  constructor(private readonly options: ServerCatalogueOptions) {}

  /** As last read, of whichever server; null before the first time. */
  get lastKnown(): NodeCatalogue | null {
    return this.cached?.catalogue ?? null;
  }

  /** Another server may be answering from now on. */
  expire(): void {
    this.readAtMs = null;
  }

  /**
   * The catalogue, at most `ttlMs` old. The same object as before for as long as nothing has changed.
   *
   * @throws {Error} when the server does not answer
   */
  async fresh(server: LiveServer): Promise<NodeCatalogue> {
    const { cached, readAtMs } = this;
    const isFresh = readAtMs !== null && performance.now() - readAtMs < this.options.ttlMs;
    return cached && isFresh && server.socket.isOpen ? cached.catalogue : await this.read(server);
  }

  /**
   * The catalogue of this server, however old: a run need not wait for what a file that was added since has changed.
   *
   * @throws {Error} when the server does not answer
   */
  async ofServer(server: LiveServer): Promise<NodeCatalogue> {
    return this.cached && this.readAtMs !== null ? this.cached.catalogue : await this.read(server);
  }

  private async read({ client }: LiveServer): Promise<NodeCatalogue> {
    const text = await client.objectInfo();
    this.readAtMs = performance.now();
    if (this.cached?.text !== text) {
      this.cached = { text, catalogue: readObjectInfo(text, this.options.openInputClasses) };
    }
    return this.cached.catalogue;
  }
}

import { isDeepStrictEqual } from 'node:util';
import type { InputSpec, NodeCatalogue } from '@millrace/contracts';
import { readObjectInfo } from './graph';
import type { LiveServer } from './server';

export interface ServerCatalogueOptions {
  /** Classes that take inputs which `/object_info` does not name. */
  openInputClasses: readonly string[] | undefined;
  /** How long an answer of the same server holds. */
  ttlMs: number;
  /** Whether a model of this name has been lent to a run. */
  isLent?: ((name: string) => boolean) | undefined;
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
      const { isLent, openInputClasses } = this.options;
      const read = readObjectInfo(text, openInputClasses);
      this.cached = { text, catalogue: isLent ? withoutLent(read, this.cached?.catalogue ?? null, isLent) : read };
    }
    return this.cached.catalogue;
  }
}

/**
 * The catalogue without names of models that were lent to runs: a list that is read during a run has them. A name that was there
 * before is the server's own as well. `before` itself where nothing else has changed.
 */
function withoutLent(
  read: NodeCatalogue,
  before: NodeCatalogue | null,
  isLent: (name: string) => boolean,
): NodeCatalogue {
  const classes = Object.entries(read).map(([name, nodeClass]) => {
    const inputs = Object.entries(nodeClass.inputs).map(([input, spec]) => {
      const known = own(own(before ?? {}, name)?.inputs ?? {}, input)?.options ?? [];
      return [input, withoutOptions(spec, (option) => isLent(option) && !known.includes(option))] as const;
    });
    return [name, { ...nodeClass, inputs: Object.fromEntries(inputs) }] as const;
  });
  const catalogue: NodeCatalogue = Object.fromEntries(classes);
  return isDeepStrictEqual(catalogue, before) ? (before ?? catalogue) : catalogue;
}

function own<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** The default goes where it is one of those that are left out. */
function withoutOptions(spec: InputSpec, isLeftOut: (option: string) => boolean): InputSpec {
  const { default: preset, options, ...rest } = spec;
  const isHidden = (option: unknown): boolean => typeof option === 'string' && isLeftOut(option);
  if (options === undefined || !options.some(isHidden)) return spec;
  const left = options.filter((option) => !isHidden(option));
  return { ...rest, ...(preset === undefined || isHidden(preset) ? {} : { default: preset }), options: left };
}

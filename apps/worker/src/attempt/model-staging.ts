import type { ModelFile, NodeCatalogue } from '@millrace/contracts';
import type { Engine } from '@millrace/engines';
import { resubmitAdvice, type ClaimedAttempt, type JobFailure, type RoomLack } from '@millrace/jobs';
import { ModelUnavailable, type EngineLinks, type ModelCache, type StagingProgress } from '@millrace/model-cache';
import type { Logger } from '@millrace/platform';
import { modelFilesIn, type WorkflowGraph } from '@millrace/workflow';
import { InputNotStaged } from './input-staging';
import { OutOfReach } from './out-of-reach';

/** Where models of the library come from, and where the engine of an attempt finds them. */
export interface EngineModels {
  cache: Pick<ModelCache, 'find' | 'stage'>;
  links: EngineLinks;
}

interface EngineModelsOf {
  models?: (engine: Engine) => Pick<EngineModels, 'links'> | null;
}

/** The machine has no room for the models of an attempt: another may have. The message is a part of a sentence. */
export class NoRoomForModels extends Error {
  constructor(readonly lack: RoomLack) {
    super(lack.message.charAt(0).toLowerCase() + lack.message.slice(1).replace(/\.$/, ''));
  }
}

/**
 * Takes from an idle engine what a run before was shown, where that could not be done then.
 *
 * @returns why it cannot be done; null: the engine is shown nothing. Never rejects.
 */
export function modelsLeft(of: EngineModelsOf): (engine: Engine) => Promise<string | null> {
  return async (engine) => {
    const links = of.models?.(engine)?.links;
    if (links?.mayShowModels !== true) return null;
    try {
      await links.clear();
      return null;
    } catch (error) {
      return `Models of a run before cannot be taken from the engine: ${(error as Error).message}`;
    }
  };
}

/** What of the library a run needs, and what its engine is shown: for the time of the run alone. */
export class ModelStaging {
  private isShown = false;

  /** @param engine null where the engine has no models of the library */
  constructor(
    private readonly engine: EngineModels | null,
    private readonly claimed: Pick<ClaimedAttempt, 'accountId'>,
    private readonly logger: Logger,
  ) {}

  /**
   * Bring the models that a graph names, and the library has, to this machine, and show them to the engine.
   *
   * @param onProgress called as bytes come in, and with undefined once it is over
   * @returns the models, by name, with what distinguishes their contents
   * @throws {InputNotStaged | NoRoomForModels | OutOfReach} or the reason of the signal; the error of the file system where what the engine was
   * shown before cannot be taken from it: it must not run then
   */
  async stage(
    graph: WorkflowGraph,
    catalogue: NodeCatalogue,
    signal: AbortSignal,
    onProgress: (progress: StagingProgress | undefined) => void,
  ): Promise<ReadonlyMap<string, string>> {
    if (this.engine === null) return new Map();
    const named = modelFilesIn(graph, catalogue);
    const { cache, links } = this.engine;
    const { accountId } = this.claimed;
    const files = await cache.find(accountId, [...named.keys()], signal);
    if (files.length === 0) {
      // Of the run before, where they could not be taken from the engine: they are another account's, and come before files of the engine's own.
      if (links.mayShowModels) await links.clear();
      return new Map();
    }
    this.isShown = true;
    try {
      await cache.stage({ accountId, files, links, signal, onProgress });
    } catch (error) {
      if (!(error instanceof ModelUnavailable) || signal.aborted) throw error;
      this.logger.warn({ err: error, fault: error.fault }, 'the models of an attempt could not be staged');
      throw asEnd(error, files, named);
    } finally {
      onProgress(undefined);
    }
    return contentsOf(files);
  }

  /** The engine has settled, or gets no run: it is shown nothing any more. Once; never rejects. */
  async end(): Promise<void> {
    if (!this.isShown) return;
    this.isShown = false;
    await this.engine?.links.clear().catch((error: unknown) => {
      // The next attempt on this engine clears them before it runs, also one without models.
      this.logger.warn({ err: error }, 'the models of an attempt could not be taken from its engine');
    });
  }
}

/** One name may be a file in each of two folders. */
function contentsOf(files: readonly { folder: string; name: string; digest: string }[]): ReadonlyMap<string, string> {
  const contents = new Map<string, string>();
  for (const { folder, name, digest } of files) {
    contents.set(name, `${contents.get(name) ?? ''} ${folder}:${digest}`);
  }
  return contents;
}

function asEnd(
  { cause, fault, message, model, neededBytes, isPassing }: ModelUnavailable,
  files: readonly ModelFile[],
  named: ReadonlyMap<string, string>,
): Error {
  if (fault === 'disk_full' || fault === 'too_large') {
    const nodeId = files.map(({ name }) => named.get(name)).find((node) => node !== undefined) ?? null;
    return new NoRoomForModels({ message, neededBytes, nodeId, isPassing });
  }
  if (fault === 'unreachable' && cause instanceof OutOfReach) return cause;
  return new InputNotStaged(unavailable(message, model === null ? null : (named.get(model) ?? null)));
}

/** The failure of a job that has come to too many workers without room for its models. */
export function noRoomFailure({ message, nodeId }: RoomLack): JobFailure {
  return unavailable(message, nodeId);
}

function unavailable(message: string, nodeId: string | null): JobFailure {
  return { code: 'input_unavailable', message: `${message} ${resubmitAdvice('input_not_staged')}`, node_id: nodeId };
}

import type { EngineOutput, EngineWork } from '../../engine';
import type { RunFiles } from '../files';
import type { SanitisedGraph } from '../graph';
import type { ServerFile } from '../protocol';
import { OutputCollector, type CollectFailure } from './output-collector';
import { PICTURE_OUTPUT_CLASSES, type NodeReport } from './run-state';

export interface RunOutputsOptions {
  work: Pick<EngineWork, 'runId' | 'outputDir' | 'maxOutputs'>;
  graph: SanitisedGraph;
  files: RunFiles;
  signal: AbortSignal;
  onOutput: (output: EngineOutput) => void;
}

/** The outputs of one run: they are collected as nodes report them, and at its end those that are missing are found. */
export class RunOutputs {
  /** Classes of the nodes that have reported. */
  readonly reportedBy = new Set<string>();
  /** Some outputs come over the socket and can be found nowhere else. */
  readonly needsSocket: boolean;
  /** Nodes that have reported, or have saved without that. */
  private readonly productiveNodes = new Set<string>();
  private readonly collector: OutputCollector;

  constructor(private readonly options: RunOutputsOptions) {
    const { work, graph, files, signal, onOutput } = options;
    const { classes } = graph;
    this.needsSocket = [...classes.values()].some((name) => PICTURE_OUTPUT_CLASSES.has(name));
    this.collector = new OutputCollector({ ...work, classes, files, signal, emit: onOutput });
  }

  /** Reported files in the temporary folder, to be removed with the run. */
  get temporaryFiles(): readonly ServerFile[] {
    return this.collector.temporaryFiles;
  }

  take(report: NodeReport): void {
    this.productiveNodes.add(report.nodeId);
    if (report.source === report.nodeId) this.reportedBy.add(this.options.graph.classes.get(report.nodeId) ?? '');
    this.collector.take(report);
  }

  takePicture(nodeId: string, contentType: string, data: Buffer): void {
    this.collector.takePicture(nodeId, contentType, data);
  }

  /**
   * Collects what nodes saved and did not report: models, mostly. Files beside reported ones are a node's own affair.
   *
   * @throws {Error} when the folders cannot be read
   */
  async findUnreported(): Promise<void> {
    for (const [folder, nodeId] of this.options.graph.saveFolders) {
      if (this.productiveNodes.has(nodeId)) continue;
      const files = await this.options.files.list(folder);
      if (files.length === 0) continue;
      this.productiveNodes.add(nodeId);
      this.collector.takeUnreported(nodeId, files);
    }
  }

  /**
   * An output node that was run and has put out nothing, or null: it, or one that it depends on, may have been blocked, of which history has no
   * trace (protocol, 3). It may as well have nothing to put out: a branch that the graph switches off is blocked without a message, savers of
   * models report nothing, and are found where folders can be read alone, and some nodes of packs only act (protocol, 8). A cached node was not
   * run, and so not blocked. Call it once `findUnreported` is done.
   */
  silentNode(cached: ReadonlySet<string>): string | null {
    const { classes, outputNodes } = this.options.graph;
    for (const nodeId of outputNodes) {
      const isPictures = PICTURE_OUTPUT_CLASSES.has(classes.get(nodeId) ?? '');
      if (!isPictures && !cached.has(nodeId) && !this.productiveNodes.has(nodeId)) return nodeId;
    }
    return null;
  }

  /**
   * Resolves when everything taken is in place, to what went wrong first.
   *
   * @throws {Error} what kept a file from being fetched: the server, the disk, an abort
   */
  whenDone(): Promise<CollectFailure | null> {
    return this.collector.whenDone();
  }
}

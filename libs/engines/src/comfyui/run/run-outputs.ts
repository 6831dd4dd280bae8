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
  private readonly reportedNodes = new Set<string>();
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
    this.reportedNodes.add(report.nodeId);
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
      if (this.reportedNodes.has(nodeId)) continue;
      const files = await this.options.files.list(folder);
      if (files.length > 0) this.collector.takeUnreported(nodeId, files);
    }
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

import type { NodeCatalogue } from '@millrace/contracts';
import type { FaultList } from './faults';
import type { GraphLinks, WorkflowGraph } from '../graph';

/** What the checks of one graph share. */
export interface Inspection {
  graph: WorkflowGraph;
  catalogue: NodeCatalogue;
  links: GraphLinks;
  faults: FaultList;
  /** Plain names of input files are refused. */
  assetsOnly: boolean;
  /** Ids that the graph holds without a node of sound shape: links to them are not at fault themselves. */
  unsound: ReadonlySet<string>;
}

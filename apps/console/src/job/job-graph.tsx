import type { ReactNode } from 'react';
import type { Job } from '@millrace/contracts';
import { isEnded } from '../api/job-facts';
import type { GraphNode, NodeState } from '../graph';
import { GraphView } from '../graph/graph-view';
import { NodeDetails } from '../graph/node-details';
import { Bar } from '../ui/display/bar';

interface JobGraphProps {
  job: Job;
  nodes: readonly GraphNode[];
  states: ReadonlyMap<string, NodeState>;
  selected: string | null;
  onSelect: (id: string | null) => void;
}

/** The graph as it runs, the progress of the whole, and the values of the chosen node. */
export function JobGraph({ job, nodes, states, selected, onSelect }: JobGraphProps): ReactNode {
  const node = nodes.find(({ id }) => id === selected);
  return (
    <section className="panel job-graph" aria-label="Graph">
      <div className="panel-head">
        <h2>Graph</h2>
        {!isEnded(job.status) && job.progress !== null && <Whole progress={job.progress} />}
        {isEnded(job.status) && <span className="small soft number">{nodes.length} nodes</span>}
      </div>
      <div className="graph-box">
        <GraphView nodes={nodes} states={states} selected={selected} onSelect={onSelect} />
      </div>
      {node !== undefined && <NodeDetails node={node} onClose={() => onSelect(null)} />}
    </section>
  );
}

function Whole({ progress }: { progress: NonNullable<Job['progress']> }): ReactNode {
  const { value, nodes_done, nodes_total, message } = progress;
  return (
    <span className="whole">
      <span className="small soft clip">{message}</span>
      <Bar value={value} label="Progress of the job" />
      <span className="small number">{Math.round(value * 100)} %</span>
      <span className="small soft number">
        {nodes_done} of {nodes_total} nodes
      </span>
    </span>
  );
}

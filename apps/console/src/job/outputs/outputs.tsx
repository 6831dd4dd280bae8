import { useState, type ReactNode } from 'react';
import type { Job, Output, Preview } from '@millrace/contracts';
import { isEnded } from '../../api/job-facts';
import type { GraphNode } from '../../graph';
import { Button } from '../../ui/controls/button';
import { Empty } from '../../ui/display/empty';
import { Icon } from '../../ui/controls/icon';
import { OutputCard } from './output-card';
import { PictureViewer } from './picture-viewer';
import './outputs.css';

/** Shown at first: what stands below them stays near. */
const FIRST = 24;

interface OutputsProps {
  job: Job;
  preview: Preview | null;
  nodes: readonly GraphNode[];
  onShow: (node: string) => void;
}

/** What the job made, as it arrives. */
export function Outputs({ job, preview, nodes, onShow }: OutputsProps): ReactNode {
  const [viewed, setViewed] = useState<Output | null>(null);
  const [all, setAll] = useState(false);
  const { outputs } = job;
  const shown = all ? outputs : outputs.slice(0, FIRST);
  const running = !isEnded(job.status);
  const classOf = (id: string): string => nodes.find((node) => node.id === id)?.classType ?? 'node';
  return (
    <section className="panel outputs" aria-label="Outputs">
      <div className="panel-head">
        <h2>Outputs</h2>
        {outputs.length > 0 && <span className="small soft number">{outputs.length}</span>}
      </div>
      {running && preview !== null && (
        <figure className="preview">
          <img src={`data:image/jpeg;base64,${preview.data_base64}`} alt="Preview of work in progress" />
          <figcaption className="small soft">Preview of node {preview.node_id}</figcaption>
        </figure>
      )}
      {outputs.length > 0 && (
        <ul className="gallery">
          {shown.map((output) => (
            <OutputCard
              key={`${output.id} ${output.name}`}
              output={output}
              madeBy={`${classOf(output.node_id)} #${output.node_id}`}
              onView={() => setViewed(output)}
              onShow={() => onShow(output.node_id)}
            />
          ))}
        </ul>
      )}
      {shown.length < outputs.length && (
        <Button kind="quiet" className="outputs-more" onClick={() => setAll(true)}>
          Show all {outputs.length} outputs
        </Button>
      )}
      {outputs.length === 0 && !(running && preview !== null) && <NoOutputs job={job} />}
      {viewed !== null && <PictureViewer output={viewed} onClose={() => setViewed(null)} />}
    </section>
  );
}

function NoOutputs({ job }: { job: Job }): ReactNode {
  if (!isEnded(job.status)) {
    return (
      <div className="outputs-none soft">
        <Icon name="clock" />
        Outputs appear here as they are stored.
      </div>
    );
  }
  return job.status === 'succeeded' ? (
    <Empty icon="file" title="This job has no outputs" />
  ) : (
    <div className="outputs-none soft">The job ended before it had an output.</div>
  );
}

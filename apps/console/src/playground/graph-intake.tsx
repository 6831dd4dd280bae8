import { useRef, useState, type DragEvent, type ReactNode } from 'react';
import { graphTextOf, readGraph, type GraphFault } from '../graph';
import { Button } from '../ui/controls/button';
import { ErrorNote } from '../ui/display/error-note';
import { Icon } from '../ui/controls/icon';
import type { Asset } from '@millrace/contracts';
import { nameOf } from '../assets/asset-name';
import { isPicture } from '../ui/media';
import { EXAMPLE_GRAPH, PICTURE_GRAPH } from './example';
import { UiFormatNote } from './ui-format-note';

const FAULTS: Record<Exclude<GraphFault, 'ui_format'>, string> = {
  not_json: 'This is not JSON. Paste the whole file, from { to }.',
  not_an_object: 'A graph is an object: node ids, each with class_type and inputs.',
  empty: 'There is no node in it: each needs a class_type.',
};

interface GraphIntakeProps {
  /** What the graph is to read. */
  asset: Asset | undefined;
  onGraph: (text: string) => void;
}

/** Takes a graph: a file that is dropped or chosen, or its text. */
export function GraphIntake({ asset, onGraph }: GraphIntakeProps): ReactNode {
  const [fault, setFault] = useState<GraphFault | null>(null);
  const [over, setOver] = useState(false);
  const picker = useRef<HTMLInputElement>(null);
  const take = (given: string): void => {
    const text = graphTextOf(given);
    const graph = readGraph(text);
    if ('fault' in graph) setFault(graph.fault);
    else onGraph(text);
  };
  const takeFile = (file: File | undefined): void => {
    void file?.text().then(take);
  };
  const onDrop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    const file = event.dataTransfer.files[0];
    if (file === undefined) take(event.dataTransfer.getData('text/plain'));
    else takeFile(file);
  };
  return (
    <div className="intake">
      <div
        className="drop"
        data-over={over}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={onDrop}
      >
        <Icon name="upload" size={24} />
        <h2>Drop a graph here</h2>
        <p className="soft">A file in API format. Nothing runs before you submit it.</p>
        {asset !== undefined && (
          <p>
            <bdi>{nameOf(asset)}</bdi> becomes its first input that reads such a file.
          </p>
        )}
        <div className="drop-actions">
          <Button kind="primary" onClick={() => picker.current?.click()}>
            Choose a file
          </Button>
          <Button onClick={() => take(asset !== undefined && isPicture(asset) ? PICTURE_GRAPH : EXAMPLE_GRAPH)}>
            Start with an example
          </Button>
        </div>
        <input
          ref={picker}
          type="file"
          hidden
          accept=".json,application/json"
          aria-label="Graph file"
          onChange={(event) => takeFile(event.target.files?.[0])}
        />
      </div>
      {fault === 'ui_format' && <UiFormatNote />}
      {fault !== null && fault !== 'ui_format' && <ErrorNote error={new Error(FAULTS[fault])} />}
      <textarea
        className="input mono"
        rows={6}
        aria-label="Graph, as text"
        placeholder="… or paste it here"
        value=""
        onChange={(event) => take(event.target.value)}
      />
    </div>
  );
}

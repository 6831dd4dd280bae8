import { Fragment, useState, type ReactNode } from 'react';
import { Handle, Position, type Node, type NodeProps } from '@xyflow/react';
import { Bar } from '../ui/display/bar';
import { formatDuration } from '../ui/format';
import { Icon, type IconName } from '../ui/controls/icon';
import { useNow } from '../ui/display/time';
import type { GraphNode } from './graph';
import { SHOWN_VALUES, valuesOf } from './layout';
import type { NodeState } from './node-states';

export type CardNode = Node<{ node: GraphNode; state: NodeState | null; faults: number; compact: boolean }, 'card'>;

const STATE_ICONS: Record<NodeState['state'], IconName> = {
  waiting: 'dot',
  running: 'again',
  done: 'check',
  cached: 'check',
  failed: 'warning',
  skipped: 'dash',
};

/** A node of the graph: its class, how far it is, and its first values. */
export function NodeCard({ data, selected, sourcePosition, targetPosition }: NodeProps<CardNode>): ReactNode {
  const { node, state, faults, compact } = data;
  const values = compact ? [] : valuesOf(node).slice(0, SHOWN_VALUES);
  return (
    <div
      className={`node-card ${compact ? 'compact' : ''} ${state?.state ?? ''}`}
      data-selected={selected}
      data-faulty={faults > 0}
    >
      <Handle type="target" position={targetPosition ?? Position.Left} isConnectable={false} />
      <div className="node-head">
        {faults > 0 ? <Icon name="warning" size={14} /> : state && <Icon name={STATE_ICONS[state.state]} size={14} />}
        <span className="node-title" title={node.title === null ? node.classType : `${node.title} (${node.classType})`}>
          {wordsOf(node.title ?? node.classType).map((word, at) => (
            <Fragment key={at}>
              {word}
              <wbr />
            </Fragment>
          ))}
        </span>
        {!compact && (
          <span className="node-time number">
            {faults > 0 ? `${faults} to mend` : state === null ? <>#{node.id}</> : <StateTime state={state} />}
          </span>
        )}
      </div>
      {values.length > 0 && (
        <dl className="node-values">
          {values.map(({ name, json }) => (
            <div key={name}>
              <dt className="clip">{name}</dt>
              <dd className="clip mono">{shownValue(json)}</dd>
            </div>
          ))}
        </dl>
      )}
      {state?.steps && <Bar value={state.steps.done / Math.max(1, state.steps.all)} label="Steps" />}
      <Handle type="source" position={sourcePosition ?? Position.Right} isConnectable={false} />
    </div>
  );
}

function StateTime({ state }: { state: NodeState }): ReactNode {
  if (state.state === 'cached') return 'cached';
  if (state.state === 'running') return <Running ms={state.ms} />;
  if (state.state === 'skipped') return 'not run';
  return state.ms === null ? null : formatDuration(state.ms);
}

/** Counts on between two snapshots. */
function Running({ ms }: { ms: number | null }): ReactNode {
  const now = useNow();
  const [began] = useState(() => Date.now() - (ms ?? 0));
  return formatDuration(Math.max(0, Math.floor((now - began) / 1_000) * 1_000));
}

/** Where a name may go on in the next line: `VAEDecodeTiled` has three words. */
function wordsOf(name: string): string[] {
  return name.split(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=_)/);
}

/** A value in one line; an asset shows as what it is. */
function shownValue(json: string): string {
  if (json.includes('core/ASSET')) return 'asset';
  return json.startsWith('"') ? String(JSON.parse(json)) : json;
}

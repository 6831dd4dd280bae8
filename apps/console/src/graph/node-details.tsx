import type { ReactNode } from 'react';
import { Button } from '../ui/controls/button';
import { Icon } from '../ui/controls/icon';
import type { GraphNode } from './graph';
import './node-details.css';

/** All inputs of a node: where each comes from, or its value. */
export function NodeDetails({ node, onClose }: { node: GraphNode; onClose: () => void }): ReactNode {
  return (
    <div className="node-details">
      <header>
        <h3 className="clip">
          {node.title ?? node.classType} <span className="faint">#{node.id}</span>
        </h3>
        <Button kind="quiet" icon={<Icon name="close" />} aria-label="Close the details" onClick={onClose} />
      </header>
      <dl>
        {node.title !== null && (
          <div>
            <dt>Class</dt>
            <dd>{node.classType}</dd>
          </div>
        )}
        {node.inputs.map(({ name, link, json }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className={link === null ? 'mono' : 'soft'}>
              {link === null ? json : `from node ${link.nodeId}, output ${link.slot}`}
            </dd>
          </div>
        ))}
        {node.inputs.length === 0 && <p className="soft small">This node takes no inputs.</p>}
      </dl>
    </div>
  );
}

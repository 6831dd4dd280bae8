import type { ReactNode } from 'react';
import type { NodeClassView } from '@millrace/contracts';
import type { GraphNode } from '../graph';
import { ValueField } from './value-field';

interface NodeFormProps {
  node: GraphNode;
  /** Undefined where no worker has it, or before the classes are read. */
  nodeClass: NodeClassView | undefined;
  faults: ReadonlyMap<string, string> | undefined;
  deployment: string | undefined;
  selected: boolean;
  onSelect: () => void;
  onChange: (input: string, json: string) => void;
}

/** The values of a node: those that the graph has, and those that its class takes besides. */
export function NodeForm(props: NodeFormProps): ReactNode {
  const { node, nodeClass, faults, deployment, selected, onSelect, onChange } = props;
  const given = new Map(node.inputs.map((input) => [input.name, input]));
  const specs = Object.entries(nodeClass?.inputs ?? {});
  const names = [...new Set([...specs.map(([name]) => name), ...given.keys()])];
  const values = names.filter((name) => {
    const spec = nodeClass?.inputs[name];
    const input = given.get(name);
    if (input !== undefined) return input.link === null;
    return spec !== undefined && takesValue(spec.type) && spec.link_only !== true;
  });
  const own = faults?.get('');
  const onLinks = [...(faults ?? [])].filter(([name]) => name !== '' && !values.includes(name));
  if (values.length === 0 && faults === undefined) return null;
  return (
    <fieldset className="node-form" data-node={node.id} data-selected={selected} onFocus={onSelect}>
      <legend>
        {node.title ?? nodeClass?.display_name ?? node.classType} <span className="faint small">#{node.id}</span>
      </legend>
      {own !== undefined && <p className="field-error">{own}</p>}
      {onLinks.map(([name, text]) => (
        <p key={name} className="field-error">
          {name}: {text}
        </p>
      ))}
      <div className="node-fields">
        {values.map((name) => (
          <ValueField
            key={name}
            name={name}
            spec={nodeClass?.inputs[name]}
            json={given.get(name)?.json ?? null}
            fault={faults?.get(name)}
            deployment={deployment}
            onChange={(json) => onChange(name, json)}
          />
        ))}
      </div>
    </fieldset>
  );
}

const WIDGETS = new Set(['INT', 'FLOAT', 'STRING', 'BOOLEAN', 'COMBO']);

const takesValue = (type: string): boolean => type.split(',').some((one) => WIDGETS.has(one));

import { useMemo, useRef, useState, type ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import type { NodeClassView } from '@millrace/contracts';
import { asApiError, nodeErrorsOf } from '../api/api-error';
import { estimateQuery } from '../api/estimates';
import { readGraph, withInput } from '../graph';
import { GraphView } from '../graph/graph-view';
import { Button } from '../ui/controls/button';
import { Caution } from '../ui/display/caution';
import { ErrorNote } from '../ui/display/error-note';
import { Icon } from '../ui/controls/icon';
import { EstimateNote } from './estimate-note';
import { faultsOfAnswer, type Faults } from './faults';
import { NodeForm } from './node-form';
import { useSettled } from './use-settled';
import { useSubmit } from './use-submit';

interface EditorProps {
  text: string;
  /** Gets what changes the graph as it is by then. */
  onEdit: (change: (text: string) => string) => void;
  /** Null until they are read: inputs that the graph does not give are not shown yet. */
  classes: Readonly<Record<string, NodeClassView>> | null;
  deployment: string | undefined;
}

const NO_FAULTS: Faults = new Map();
/** While values are typed, nothing is estimated. */
const TYPING_MS = 600;

/** The graph as it will run, and a form for the values of its nodes. */
export function Editor({ text, onEdit, classes, deployment }: EditorProps): ReactNode {
  const [selected, setSelected] = useState<string | null>(null);
  const forms = useRef<HTMLDivElement>(null);
  const { sent, run, unanswered } = useSubmit(deployment, text);
  const graph = useMemo(() => readGraph(text), [text]);
  const nodes = useMemo(() => ('nodes' in graph ? graph.nodes : []), [graph]);
  // The answer is of the text that was sent; an edit makes it old.
  const answered = sent.isError && sent.variables.text === text ? asApiError(sent.error) : null;
  const settled = useSettled(text, TYPING_MS);
  const { data: estimated } = useQuery({
    ...estimateQuery(deployment, settled),
    enabled: !sent.isPending,
  });
  // What the service says of this very text, when it was submitted or estimated.
  const refused =
    nodeErrorsOf(answered) ?? (estimated?.graphText === text ? nodeErrorsOf(estimated.estimate.error) : null);
  const faults = useMemo(() => (refused === null ? NO_FAULTS : faultsOfAnswer(refused)), [refused]);
  const ofGraph = [...(faults.get('')?.values() ?? [])].join(' ');
  const toMend = faults.size - (faults.has('') ? 1 : 0);
  const counts = useMemo(() => new Map([...faults].map(([id, inputs]) => [id, inputs.size])), [faults]);
  const show = (id: string | null): void => {
    setSelected(id);
    if (id !== null)
      forms.current?.querySelector(`[data-node=${CSS.escape(id)}]`)?.scrollIntoView({ block: 'nearest' });
  };
  const first = [...faults.keys()].find((id) => nodes.some((node) => node.id === id));
  return (
    <div className="editor">
      <section className="panel editor-graph" aria-label="Graph">
        <GraphView nodes={nodes} faults={counts} selected={selected} onSelect={show} />
      </section>
      <section className="panel editor-side" aria-label="Values">
        <div className="panel-head">
          <h2>Values</h2>
          {toMend > 0 && (
            <Button kind="danger" icon={<Icon name="warning" />} onClick={() => show(first ?? null)}>
              {toMend === 1 ? '1 node to mend' : `${toMend} nodes to mend`}
            </Button>
          )}
        </div>
        <div className="editor-forms" ref={forms}>
          {nodes.map((node) => (
            <NodeForm
              key={node.id}
              node={node}
              nodeClass={classes?.[node.classType]}
              faults={faults.get(node.id)}
              deployment={deployment}
              selected={node.id === selected}
              onSelect={() => setSelected(node.id)}
              onChange={(input, json) => onEdit((now) => withInput(now, node.id, input, json))}
            />
          ))}
        </div>
        <div className="editor-submit">
          {answered !== null && <ErrorNote error={answered} title="The job was not submitted" />}
          {answered === null && ofGraph !== '' && <p className="estimate estimate-refused">{ofGraph}</p>}
          {unanswered && (
            <Caution>
              No answer has arrived yet to this graph: its job may be among your jobs. Sent again, it makes no second
              one, and is refused once if the first was made.
            </Caution>
          )}
          {answered === null && faults.size === 0 && estimated && <EstimateNote estimate={estimated.estimate} />}
          <Button kind="primary" busy={sent.isPending} disabled={faults.size > 0 && answered === null} onClick={run}>
            Run this graph
          </Button>
        </div>
      </section>
    </div>
  );
}

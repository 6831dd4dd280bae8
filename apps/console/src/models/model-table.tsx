import type { ReactNode } from 'react';
import { pathOf, type LibraryModel } from '../api/models';
import { Button } from '../ui/controls/button';
import { Sign } from '../ui/display/status';
import { Ago } from '../ui/display/time';
import { formatBytes } from '../ui/format';

interface ModelTableProps {
  models: LibraryModel[];
  /** Absent where the session may delete none. */
  onDelete?: (model: LibraryModel) => void;
}

/** Models, each with what is known of it. */
export function ModelTable({ models, onDelete }: ModelTableProps): ReactNode {
  return (
    <div className="panel" role="table" aria-label="Models">
      <div className="record model-row head" role="row">
        {['Model', 'Size', 'Added', 'Last used', 'State'].map((name) => (
          <span key={name} role="columnheader">
            {name}
          </span>
        ))}
        <span role="columnheader">
          <span className="unseen">Actions</span>
        </span>
      </div>
      {models.map((model) => (
        <ModelRow key={model.id} model={model} {...(onDelete && { onDelete })} />
      ))}
    </div>
  );
}

function ModelRow({ model, onDelete }: { model: LibraryModel; onDelete?: (model: LibraryModel) => void }): ReactNode {
  const { size_bytes: size, shared, problem, created_at: created, last_used_at: used } = model;
  const facts = factsOf(model);
  return (
    <div className="record model-row" role="row">
      <span role="cell" className="model-name">
        <span className="mono">{pathOf(model)}</span>
        {facts !== '' && <span className="small soft">{facts}</span>}
        {problem !== null && <span className="small model-problem">{problem}</span>}
      </span>
      <span role="cell" className="number model-fact" data-name="Size">
        {size === null ? '' : formatBytes(size)}
      </span>
      <span role="cell" className="soft model-fact" data-name="Added">
        <Ago at={created} />
      </span>
      <span role="cell" className="soft model-fact" data-name="Last used">
        {used === null ? 'never' : <Ago at={used} />}
      </span>
      <span role="cell" className="tags">
        <ModelSign model={model} />
        {shared && (
          <span className="tag" title="The operator of the service lets every account use it.">
            shared
          </span>
        )}
      </span>
      <span role="cell" className="record-acts">
        {onDelete !== undefined && !shared && (
          <Button kind="danger" aria-label={`Delete ${pathOf(model)}`} onClick={() => onDelete(model)}>
            Delete
          </Button>
        )}
      </span>
    </div>
  );
}

/** `lora · flux · apache-2.0`. */
function factsOf({ kind, architecture, licence }: LibraryModel): string {
  return [kind?.replaceAll('_', ' ') ?? null, architecture, licence].filter((fact) => fact !== null).join(' · ');
}

function ModelSign({
  model: { state, size_bytes: size, received_bytes: received },
}: {
  model: LibraryModel;
}): ReactNode {
  switch (state) {
    case 'ready':
      return (
        <Sign tone="good" icon="check">
          Ready
        </Sign>
      );
    case 'failed':
      return (
        <Sign tone="bad" icon="warning">
          Failed
        </Sign>
      );
    case 'uploading':
      return (
        <Sign tone="busy" icon="upload">
          Uploading
        </Sign>
      );
    case 'importing':
      return (
        <Sign tone="busy" icon="download">
          Importing{size === null ? '' : ` ${Math.floor((100 * received) / size)} %`}
        </Sign>
      );
  }
}

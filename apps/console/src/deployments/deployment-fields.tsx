import type { ReactNode } from 'react';
import type { DeploymentDraft } from '../api/deployments';
import type { EngineClass } from '../api/engine-classes';
import { Field } from '../ui/controls/field';
import { ClassChoice } from './class-choice';
import { ModelChoice } from './model-choice';

/** The API's own defaults. */
export const FIRST_DRAFT: Omit<DeploymentDraft, 'engine_class'> = {
  name: '',
  min_workers: 0,
  max_workers: 1,
  idle_seconds: 300,
  models: [],
};

/** What the API accepts; how many workers an account may have is one of its limits, of which a refusal says more. */
const MAX_NAME_LENGTH = 200;
const MAX_WORKERS = 10_000;
const MAX_IDLE_SECONDS = 604_800;

interface DeploymentFieldsProps {
  draft: DeploymentDraft;
  classes: EngineClass[];
  onChange: (changes: Partial<DeploymentDraft>) => void;
}

/** The fields of a new deployment: what it costs stands before how many of it. */
export function DeploymentFields({ draft, classes, onChange }: DeploymentFieldsProps): ReactNode {
  const { name, engine_class, min_workers, max_workers, idle_seconds, models } = draft;
  return (
    <>
      <Field label="Name">
        {(ids) => (
          <input
            {...ids}
            className="input"
            value={name}
            maxLength={MAX_NAME_LENGTH}
            pattern=".*\S.*"
            title="A name that says what it is for"
            required
            autoFocus
            onChange={(event) => onChange({ name: event.target.value })}
          />
        )}
      </Field>
      <ClassChoice classes={classes} chosen={engine_class} onChoose={(chosen) => onChange({ engine_class: chosen })} />
      <div className="deployment-scale">
        <NumberField
          label="Workers at least"
          note="0: none while there is no work."
          value={min_workers}
          max={MAX_WORKERS}
          onChange={(value) => onChange({ min_workers: value, max_workers: Math.max(value || 0, max_workers) })}
        />
        <NumberField
          label="Workers at most"
          note="How many jobs run at once."
          value={max_workers}
          min={Math.max(1, min_workers || 0)}
          max={MAX_WORKERS}
          onChange={(value) => onChange({ max_workers: value })}
        />
        <NumberField
          label="Idle seconds"
          note="How long workers wait for more work."
          value={idle_seconds}
          max={MAX_IDLE_SECONDS}
          onChange={(value) => onChange({ idle_seconds: value })}
        />
      </div>
      <ModelChoice chosen={models} onChoose={(chosen) => onChange({ models: chosen })} />
    </>
  );
}

interface NumberFieldProps {
  label: string;
  note: string;
  value: number;
  min?: number;
  max: number;
  onChange: (value: number) => void;
}

function NumberField({ label, note, value, min = 0, max, onChange }: NumberFieldProps): ReactNode {
  return (
    <Field label={label} note={note}>
      {(ids) => (
        <input
          {...ids}
          className="input number"
          type="number"
          required
          min={min}
          max={max}
          step={1}
          value={Number.isNaN(value) ? '' : value}
          onChange={(event) => onChange(event.target.valueAsNumber)}
        />
      )}
    </Field>
  );
}

import type { ReactNode } from 'react';
import type { DeploymentDraft } from '../api/deployments';
import type { EngineClass } from '../api/engine-classes';
import { Field } from '../ui/controls/field';
import { VersionFields } from './version-fields';

/** The API's own defaults. */
export const FIRST_DRAFT: Omit<DeploymentDraft, 'engine_class'> = {
  name: '',
  min_workers: 0,
  max_workers: 1,
  idle_seconds: 300,
  models: [],
};

/** What the API accepts. */
const MAX_NAME_LENGTH = 200;

interface DeploymentFieldsProps {
  draft: DeploymentDraft;
  classes: EngineClass[];
  onChange: (changes: Partial<DeploymentDraft>) => void;
}

/** The fields of a deployment. */
export function DeploymentFields({ draft, classes, onChange }: DeploymentFieldsProps): ReactNode {
  return (
    <>
      <Field label="Name">
        {(ids) => (
          <input
            {...ids}
            className="input"
            value={draft.name}
            maxLength={MAX_NAME_LENGTH}
            pattern=".*\S.*"
            title="A name that says what it is for"
            required
            autoFocus
            onChange={(event) => onChange({ name: event.target.value })}
          />
        )}
      </Field>
      <VersionFields draft={draft} classes={classes} onChange={onChange} />
    </>
  );
}

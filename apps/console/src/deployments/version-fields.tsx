import { DEPLOYMENT_LIMITS } from '@millrace/contracts';
import type { ReactNode } from 'react';
import type { DeploymentDraft } from '../api/deployments';
import type { EngineClass } from '../api/engine-classes';
import { ClassChoice } from './class-choice';
import { ModelChoice } from './model-choice';
import { NumberField } from './number-field';

/** What a version of a deployment is made of. */
export type VersionScale = Omit<DeploymentDraft, 'name'>;

/** How many workers an account may have is one of its limits, of which a refusal says more. */
const { min_workers: FEWEST, max_workers: MOST, idle_seconds: IDLE } = DEPLOYMENT_LIMITS;

interface VersionFieldsProps {
  draft: VersionScale;
  classes: EngineClass[];
  onChange: (changes: Partial<VersionScale>) => void;
}

/** The fields of a version: what it costs stands before how many of it. */
export function VersionFields({ draft, classes, onChange }: VersionFieldsProps): ReactNode {
  const { engine_class, min_workers, max_workers, idle_seconds, models } = draft;
  return (
    <>
      <ClassChoice classes={classes} chosen={engine_class} onChoose={(chosen) => onChange({ engine_class: chosen })} />
      <div className="deployment-scale">
        <NumberField
          label="Workers at least"
          note="0: none while there is no work."
          value={min_workers}
          max={FEWEST.most}
          onChange={(value) => onChange({ min_workers: value, max_workers: Math.max(value || 0, max_workers) })}
        />
        <NumberField
          label="Workers at most"
          note="How many jobs run at once."
          value={max_workers}
          min={Math.max(MOST.least, min_workers || 0)}
          max={MOST.most}
          onChange={(value) => onChange({ max_workers: value })}
        />
        <NumberField
          label="Idle seconds"
          note="How long workers wait for more work."
          value={idle_seconds}
          max={IDLE.most}
          onChange={(value) => onChange({ idle_seconds: value })}
        />
      </div>
      <ModelChoice chosen={models} onChoose={(chosen) => onChange({ models: chosen })} />
    </>
  );
}

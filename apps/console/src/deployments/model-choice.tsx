import type { ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import type { ModelName } from '@millrace/contracts';
import { modelsQuery, pathOf, type LibraryModel } from '../api/models';
import { useSession } from '../shell/session-context';
import { ErrorNote } from '../ui/display/error-note';
import { formatBytes } from '../ui/format';

interface ModelChoiceProps {
  chosen: readonly ModelName[];
  onChoose: (models: ModelName[]) => void;
}

/** The models that workers of a deployment fetch before they are ready, of those that the account has. Nothing where it has none. */
export function ModelChoice(props: ModelChoiceProps): ReactNode {
  return useSession().may('assets:read') ? <Choice {...props} /> : null;
}

function Choice({ chosen, onChoose }: ModelChoiceProps): ReactNode {
  const { data = [], error, isError, refetch } = useQuery(modelsQuery);
  if (isError) return <ErrorNote error={error} onRetry={() => refetch()} />;
  if (data.length === 0) return null;
  const paths = new Set(chosen.map(pathOf));
  const turn = ({ folder, name }: LibraryModel, isChosen: boolean): void => {
    const others = chosen.filter((one) => pathOf(one) !== pathOf({ folder, name }));
    onChoose(isChosen ? [...others, { folder, name }] : others);
  };
  return (
    <fieldset className="model-choice">
      <legend>Models</legend>
      <p className="small faint">Its workers have these before they are ready.</p>
      <div>
        {data.map((model) => (
          <label key={model.id}>
            <input
              type="checkbox"
              checked={paths.has(pathOf(model))}
              onChange={({ target }) => turn(model, target.checked)}
            />
            <span className="mono">{pathOf(model)}</span>
            <span className="small soft">{factsOf(model)}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

function factsOf({ shared, size_bytes: size }: LibraryModel): string {
  return [...(size === null ? [] : [formatBytes(size)]), ...(shared ? ['shared'] : [])].join(' · ');
}

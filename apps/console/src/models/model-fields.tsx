import { useId, type ReactNode } from 'react';
import type { ModelFields } from '../api/upload/upload-model';
import { Field } from '../ui/controls/field';

/** Folders that engines have; others can be written. */
const FOLDERS = [
  'checkpoints',
  'clip_vision',
  'controlnet',
  'diffusion_models',
  'embeddings',
  'loras',
  'text_encoders',
  'upscale_models',
  'vae',
];
const FOLDER_CHARACTERS = 64;
const NAME_CHARACTERS = 240;
const LICENCE_CHARACTERS = 200;

interface ModelFieldsProps {
  fields: ModelFields;
  onChange: (changes: Partial<ModelFields>) => void;
}

/** Where graphs find a model, and its licence. */
export function ModelFieldInputs({ fields: { folder, name, licence }, onChange }: ModelFieldsProps): ReactNode {
  const folders = useId();
  return (
    <>
      <Field label="Folder" note="The engine's folder, which decides which loader nodes offer it.">
        {(ids) => (
          <input
            {...ids}
            className="input"
            list={folders}
            value={folder}
            maxLength={FOLDER_CHARACTERS}
            onChange={(event) => onChange({ folder: event.target.value })}
            required
          />
        )}
      </Field>
      <datalist id={folders}>
        {FOLDERS.map((known) => (
          <option key={known} value={known} />
        ))}
      </datalist>
      <Field label="Name" note="As loader nodes name it: a path below the folder.">
        {(ids) => (
          <input
            {...ids}
            className="input mono"
            value={name}
            maxLength={NAME_CHARACTERS}
            onChange={(event) => onChange({ name: event.target.value })}
            required
          />
        )}
      </Field>
      <Field label="Licence" note="Optional: the licence of the weights.">
        {(ids) => (
          <input
            {...ids}
            className="input"
            value={licence ?? ''}
            maxLength={LICENCE_CHARACTERS}
            onChange={({ target }) => onChange({ licence: target.value === '' ? null : target.value })}
          />
        )}
      </Field>
    </>
  );
}

import { useId, useState, type FormEvent, type ReactNode } from 'react';
import type { ModelFields } from '../api/upload/upload-model';
import { Button } from '../ui/controls/button';
import { Modal } from '../ui/controls/modal';
import { formatBytes } from '../ui/format';
import { ModelFieldInputs } from './model-fields';

interface NewUploadProps {
  file: File;
  onSubmit: (fields: ModelFields) => void;
  onClose: () => void;
}

/** What a file of weights is to be called, before it is uploaded. */
export function NewUpload({ file, onSubmit, onClose }: NewUploadProps): ReactNode {
  const [fields, setFields] = useState<ModelFields>({ folder: 'checkpoints', name: file.name, licence: null });
  const form = useId();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onSubmit(fields);
  };
  return (
    <Modal
      title="Upload a model"
      open
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" form={form}>
            Upload the model
          </Button>
        </>
      }
    >
      <form id={form} className="fields" onSubmit={submit}>
        <p className="small soft model-file">
          {file.name}, {formatBytes(file.size)}
        </p>
        <ModelFieldInputs fields={fields} onChange={(changes) => setFields({ ...fields, ...changes })} />
      </form>
    </Modal>
  );
}

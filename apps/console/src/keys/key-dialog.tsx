import type { ReactNode } from 'react';
import type { IssuedApiKey } from '../api/api-keys';
import { Button } from '../ui/controls/button';
import { CodeBlock } from '../ui/display/code-block';
import { Modal } from '../ui/controls/modal';
import { Ago } from '../ui/display/time';

interface KeyDialogProps {
  title: string;
  /** The new key, when there is one. */
  issued: IssuedApiKey | undefined;
  onClose: () => void;
  /** The button that makes the key. */
  action: ReactNode;
  /** What is asked before. */
  children: ReactNode;
}

/**
 * A dialog that ends with a new key, which nothing shows again: then only its buttons close it, no click beside it and no Escape.
 * It stays one dialog, so that the focus stays in it.
 */
export function KeyDialog({ title, issued, onClose, action, children }: KeyDialogProps): ReactNode {
  const done = (
    <Button kind="primary" onClick={onClose}>
      I have stored it
    </Button>
  );
  const asking = (
    <>
      <Button onClick={onClose}>Cancel</Button>
      {action}
    </>
  );
  return (
    <Modal
      title={issued === undefined ? title : `The key of ${issued.name}`}
      open
      dismissible={issued === undefined}
      onClose={onClose}
      actions={issued === undefined ? asking : done}
    >
      {issued === undefined ? children : <IssuedKey issued={issued} />}
    </Modal>
  );
}

function IssuedKey({ issued }: { issued: IssuedApiKey }): ReactNode {
  return (
    <>
      <p>
        <strong>It will not be shown again.</strong> The service keeps only its hash. Copy it to where your program
        reads it.
      </p>
      <CodeBlock label="API key" text={issued.key} />
      {issued.expires_at !== null && (
        <p className="soft">
          It expires <Ago at={issued.expires_at} />.
        </p>
      )}
    </>
  );
}

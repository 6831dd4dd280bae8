import type { ReactNode } from 'react';
import { useBlocker } from '@tanstack/react-router';
import { Button } from './button';
import { Modal } from './modal';

interface OnceDialogProps {
  title: string;
  /** What is shown once, when there is something. */
  shown: { title: string; content: ReactNode } | undefined;
  /** It is being made: nothing closes the dialog, which alone can show it. */
  pending: boolean;
  onClose: () => void;
  /** The button that makes it. */
  action: ReactNode;
  /** What is asked before. */
  children: ReactNode;
}

/**
 * A dialog that ends with a secret, which nothing shows again: then only its buttons close it, no click beside it and no Escape.
 * It stays one dialog, so that the focus stays in it. While there is something to lose, no navigation leaves its page, and the browser asks
 * before it closes or loads the page again.
 */
export function OnceDialog({ title, shown, pending, onClose, action, children }: OnceDialogProps): ReactNode {
  const mayLose = pending || shown !== undefined;
  useBlocker({ shouldBlockFn: () => mayLose, enableBeforeUnload: () => mayLose });
  const done = (
    <Button kind="primary" onClick={onClose}>
      I have stored it
    </Button>
  );
  const asking = (
    <>
      <Button disabled={pending} onClick={onClose}>
        Cancel
      </Button>
      {action}
    </>
  );
  return (
    <Modal
      title={shown?.title ?? title}
      open
      dismissible={!mayLose}
      closable={!pending}
      onClose={onClose}
      actions={shown === undefined ? asking : done}
    >
      {shown?.content ?? children}
    </Modal>
  );
}

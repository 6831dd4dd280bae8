import type { ReactNode } from 'react';
import { Dialog } from '@base-ui/react/dialog';
import { Button } from './button';
import { Icon } from './icon';
import { ReturnFocus } from './return-focus';
import './modal.css';

interface ModalProps {
  title: string;
  open: boolean;
  onClose: () => void;
  /** False: only its buttons close it, for what is shown once. */
  dismissible?: boolean;
  /** False: the button in its corner does not close it, either. */
  closable?: boolean;
  children: ReactNode;
  /** Buttons at the bottom. */
  actions?: ReactNode;
}

/** A dialog over the page: focus stays in it and goes back afterwards, Escape and a click beside it close it. */
export function Modal({
  title,
  open,
  onClose,
  dismissible = true,
  closable = true,
  children,
  actions,
}: ModalProps): ReactNode {
  return (
    <Dialog.Root open={open} onOpenChange={(next) => !next && dismissible && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="modal">
          <ReturnFocus />
          <header>
            <Dialog.Title render={<h2 />}>{title}</Dialog.Title>
            <Button
              kind="quiet"
              icon={<Icon name="close" />}
              aria-label="Close"
              disabled={!closable}
              onClick={onClose}
            />
          </header>
          <div className="modal-body">{children}</div>
          {actions !== undefined && <footer>{actions}</footer>}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

import type { ReactNode } from 'react';
import { Dialog } from '@base-ui/react/dialog';
import type { Output } from '@millrace/contracts';
import { Button } from '../../ui/controls/button';
import { formatBytes } from '../../ui/format';
import { Icon } from '../../ui/controls/icon';
import { ReturnFocus } from '../../ui/controls/return-focus';

/** A picture as large as the window. */
export function PictureViewer({ output, onClose }: { output: Output; onClose: () => void }): ReactNode {
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="viewer">
          <ReturnFocus />
          <header>
            <Dialog.Title className="clip">{output.name}</Dialog.Title>
            <span className="small">{formatBytes(output.size_bytes)}</span>
            <a className="button" href={output.url} download={output.name}>
              <Icon name="download" />
              Download
            </a>
            <Button icon={<Icon name="close" />} aria-label="Close" onClick={onClose} />
          </header>
          <img src={output.url} alt={output.name} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

import type { ReactNode } from 'react';
import { Toast } from '@base-ui/react/toast';
import { asApiError, titleOf } from '../../api/api-error';
import { Button } from '../controls/button';
import { Icon } from '../controls/icon';
import './notices.css';

const manager = Toast.createToastManager();

/** Say in passing that something was done. */
export function notify(title: string): void {
  manager.add({ title });
}

/** Say in passing that something failed, with what the service said. */
export function notifyError(title: string, error: unknown): void {
  const known = asApiError(error);
  const shown = { title: titleOf(known, title), description: known.message };
  manager.add({ ...shown, type: 'error', priority: 'high', timeout: 12_000 });
}

/** Where the notices appear. */
export function Notices(): ReactNode {
  return (
    <Toast.Provider toastManager={manager}>
      <Toast.Portal>
        <Toast.Viewport className="notices">
          <List />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

function List(): ReactNode {
  const { toasts } = Toast.useToastManager();
  return toasts.map((toast) => (
    <Toast.Root key={toast.id} toast={toast} className={`notice ${toast.type ?? ''}`}>
      <Icon name={toast.type === 'error' ? 'warning' : 'check'} />
      <div>
        <Toast.Title className="notice-title" />
        <Toast.Description className="small soft" />
      </div>
      <Toast.Close render={<Button kind="quiet" aria-label="Dismiss" icon={<Icon name="close" />} />} />
    </Toast.Root>
  ));
}

import type { Sender } from '@millrace/jobs';
import { confirmAccess } from './confirm-access';
import { heldBytesOf } from './hold-bytes';

/** Who sent a request, for work that waits for a turn. To be called before it waits: a connection that ends is noticed from then on. */
export function senderOf(request: object): Sender {
  const held = heldBytesOf(request);
  const confirm = (): Promise<void> => confirmAccess(request);
  return {
    begin: async () => {
      await confirm();
      held.assertAwaited();
    },
    confirm,
  };
}

import type { Sender } from '@millrace/jobs';
import { heldBytesOf } from './hold-bytes';

/** Who sent a request, for work that waits for a turn. To be called before it waits: a connection that ends is noticed from then on. */
export function senderOf(request: object): Sender {
  const held = heldBytesOf(request);
  return {
    begin: async () => held.assertAwaited(),
  };
}

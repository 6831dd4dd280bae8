import type { ReactNode } from 'react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { apiKeysQuery, revokeApiKey, type ApiKey } from '../api/api-keys';
import { useSession } from '../shell/session-context';
import { useForgetSession } from '../shell/use-sign-out';
import { Button } from '../ui/controls/button';
import { ErrorNote } from '../ui/display/error-note';
import { Modal } from '../ui/controls/modal';
import { notify } from '../ui/display/notices';
import { Caution } from '../ui/display/caution';
import { descendantsOf } from './key-life';

interface RevokeKeyProps {
  apiKey: ApiKey;
  keys: ApiKey[];
  onClose: () => void;
}

/** Ends a key, after asking: what ends with it, and whether that is this session. */
export function RevokeKey({ apiKey, keys, onClose }: RevokeKeyProps): ReactNode {
  const session = useSession();
  const client = useQueryClient();
  const forgetSession = useForgetSession();
  const made = descendantsOf(apiKey.id, keys);
  const signsOut = [apiKey, ...made].some(({ id }) => id === session.key.id);
  const revoke = useMutation({
    mutationFn: () => revokeApiKey(apiKey.id),
    onSuccess: () => {
      notify(`The key ${apiKey.name} is revoked`);
      onClose();
      if (signsOut) forgetSession();
      else void client.invalidateQueries({ queryKey: apiKeysQuery.queryKey });
    },
  });
  return (
    <Modal
      title={`Revoke ${apiKey.name}?`}
      open
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Keep the key</Button>
          <Button kind="danger" busy={revoke.isPending} onClick={() => revoke.mutate()}>
            {signsOut ? 'Revoke and sign out' : 'Revoke the key'}
          </Button>
        </>
      }
    >
      <p className="soft">
        It is refused everywhere within 5 seconds, for good. Jobs that were submitted with it go on.
      </p>
      {made.length > 0 && (
        <Caution>
          {made.length === 1 ? 'The key that it made ends' : `The ${made.length} keys that it made end`} with it:{' '}
          {made.map(({ name }) => name).join(', ')}.
        </Caution>
      )}
      {signsOut && <Caution>This session acts as a key that ends: you are signed out.</Caution>}
      {revoke.isError && <ErrorNote error={revoke.error} title="The key was not revoked" />}
    </Modal>
  );
}

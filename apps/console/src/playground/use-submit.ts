import { useMutation, useQueryClient, type UseMutationResult } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { Job } from '@millrace/contracts';
import { isUnanswered, sendOnce } from '../api/idempotency-key';
import { submitJob } from '../api/jobs';
import { useSession } from '../shell/session-context';

interface Submit {
  sent: UseMutationResult<Job, Error, { text: string }>;
  run: () => void;
  /** The same graph was submitted before, and no answer has said what became of it. */
  unanswered: boolean;
}

/**
 * Submits a graph as it stands, and opens its job, unless its page was left meanwhile. Until an answer arrives, the same graph has one
 * Idempotency-Key, also after its page was left, so that submitting it again cannot make a second job (contract, 4.1).
 */
export function useSubmit(deployment: string | undefined, text: string): Submit {
  const navigate = useNavigate();
  const client = useQueryClient();
  const { account } = useSession();
  const actOf = (graph: string): string => `submit for ${account.id} to ${deployment ?? 'its own surface'}: ${graph}`;
  const sent = useMutation({
    mutationFn: ({ text: graph }: { text: string }) =>
      sendOnce(actOf(graph), (key) => submitJob(deployment, `{"workflow":${graph}}`, key)),
    onSuccess: () => void client.invalidateQueries({ queryKey: ['jobs'] }),
  });
  const open = ({ id: jobId }: Job): void =>
    void navigate({ to: '/jobs/$jobId', params: { jobId }, search: deployment === undefined ? {} : { deployment } });
  return {
    sent,
    // What is given here is called only while the page is there.
    run: () => sent.mutate({ text }, { onSuccess: open }),
    unanswered: !sent.isPending && isUnanswered(actOf(text)),
  };
}

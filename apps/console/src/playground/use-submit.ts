import { useState } from 'react';
import { useMutation, useQueryClient, type UseMutationResult } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { Job } from '@millrace/contracts';
import { newIdempotencyKey } from '../api/idempotency-key';
import { submitJob } from '../api/jobs';

/**
 * Submits a graph as it stands, and opens its job. A graph has one Idempotency-Key until it changes, so that pressing again after
 * an answer that never came cannot make a second job (contract, 4.1).
 */
export function useSubmit(
  deployment: string | undefined,
  text: string,
): UseMutationResult<Job, Error, { text: string }> {
  const navigate = useNavigate();
  const client = useQueryClient();
  const [key, setKey] = useState({ text, value: newIdempotencyKey() });
  if (key.text !== text) setKey({ text, value: newIdempotencyKey() });
  return useMutation({
    mutationFn: (sent) => submitJob(deployment, `{"workflow":${sent.text}}`, key.value),
    onSuccess: async ({ id }) => {
      void client.invalidateQueries({ queryKey: ['jobs'] });
      await navigate({
        to: '/jobs/$jobId',
        params: { jobId: id },
        search: deployment === undefined ? {} : { deployment },
      });
    },
  });
}

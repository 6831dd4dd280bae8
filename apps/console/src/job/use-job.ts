import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { Job } from '@millrace/contracts';
import { isEnded } from '../api/job-facts';
import { jobQuery, type JobPlace } from '../api/jobs';
import { useJobStream, type JobStream } from './use-job-stream';

const POLL_MS = 2_000;
const LIVE_POLL_MS = 20_000;
const LINK_MARGIN_MS = 60_000;

/** A job as it is now: polls are the truth, and often when the stream is away; the stream is sooner. */
export function useJob(place: JobPlace): { query: UseQueryResult<Job>; stream: JobStream } {
  const known = useQuery({ ...jobQuery(place), enabled: false });
  const stream = useJobStream(place, known.data);
  const query = useQuery({
    ...jobQuery(place),
    refetchInterval: ({ state }) => {
      if (state.data !== undefined && isEnded(state.data.status)) return untilLinksEnd(state.data);
      return stream.connection === 'live' ? LIVE_POLL_MS : POLL_MS;
    },
  });
  return { query, stream };
}

/** Fresh links before the first one ends, as long as the page is open. */
function untilLinksEnd({ outputs }: Job): number | false {
  if (outputs.length === 0) return false;
  const first = Math.min(...outputs.map((output) => Date.parse(output.url_expires_at)));
  return Math.max(LINK_MARGIN_MS, first - Date.now() - LINK_MARGIN_MS);
}

import { useEffect, useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import type { Job, Output, Preview, Progress, StatusEvent } from '@millrace/contracts';
import { isEnded } from '../api/job-facts';
import { jobQuery, type JobPlace } from '../api/jobs';
import { sawNode, type SeenNodes } from '../graph';
import { mergeJob, withOutput } from './merge-job';

export interface JobStream {
  connection: Connection;
  preview: Preview | null;
  seen: SeenNodes;
}

/** `polling`: the stream is away, and polls show the job until it is back. */
export type Connection = 'connecting' | 'live' | 'polling' | 'ended';

const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 15_000;

/**
 * Follow a job: its events go into what the poll has read. Every event is complete and none has an id (wire supplement,
 * section 3), so that a new connection brings the page up to date by itself.
 */
export function useJobStream(place: JobPlace, job: Job | undefined): JobStream {
  const client = useQueryClient();
  const [connection, setConnection] = useState<Connection>('connecting');
  const [preview, setPreview] = useState<Preview | null>(null);
  const [seen, setSeen] = useState<SeenNodes>(new Map());
  const events = job?.urls.events;
  const ended = job !== undefined && isEnded(job.status);
  const { id, deployment } = place;

  useEffect(() => {
    if (events === undefined || ended) return;
    const { queryKey } = jobQuery({ id, deployment });
    const change = (next: (job: Job) => Job): void => {
      client.setQueryData(queryKey, (known) => known && next(known));
    };
    let source: EventSource | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let retryMs = FIRST_RETRY_MS;

    const open = (): void => {
      source = new EventSource(events);
      const on = <T>(name: string, take: (data: T) => void): void =>
        source?.addEventListener(name, ({ data }: MessageEvent<string>) => take(JSON.parse(data) as T));
      source.addEventListener('open', () => {
        retryMs = FIRST_RETRY_MS;
        setConnection('live');
      });
      on<StatusEvent>('status', (event) => {
        change((known) => mergeJob(known, event));
        // What only a poll shows: outputs that were left out, and the log of an ended job.
        if (event.outputs_left_out !== undefined || isEnded(event.status)) void client.invalidateQueries({ queryKey });
      });
      on<Progress>('progress', (progress) => {
        change((known) => ({ ...known, progress }));
        const { current_node: current } = progress;
        if (typeof current === 'string') setSeen((before) => sawNode(before, current, Date.now()));
      });
      on<Output>('output', (output) => change((known) => withOutput(known, output)));
      on<Preview>('preview', setPreview);
      source.addEventListener('error', () => {
        source?.close();
        setConnection('polling');
        timer = setTimeout(open, retryMs);
        retryMs = Math.min(LAST_RETRY_MS, retryMs * 2);
      });
    };
    const close = (): void => {
      source?.close();
      clearTimeout(timer);
    };
    // A browser has six connections to a service by HTTP/1.1: tabs that nobody sees leave theirs to the others.
    const follow = (): void => {
      close();
      if (document.visibilityState === 'visible') open();
      else setConnection('connecting');
    };
    follow();
    document.addEventListener('visibilitychange', follow);
    return () => {
      document.removeEventListener('visibilitychange', follow);
      close();
    };
  }, [client, id, deployment, events, ended]);

  return { connection: ended ? 'ended' : connection, preview: ended ? null : preview, seen };
}

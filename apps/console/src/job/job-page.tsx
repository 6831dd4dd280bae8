import { useMemo, useState, type ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { Job } from '@millrace/contracts';
import { isEnded } from '../api/job-facts';
import { jobNodesQuery, jobWorkflowQuery, type JobPlace } from '../api/jobs';
import { graphTextOf, nodeStates, readGraph } from '../graph';
import { Page } from '../shell/page';
import { ErrorNote } from '../ui/display/error-note';
import { shortId } from '../ui/format';
import { Icon } from '../ui/controls/icon';
import { Skeleton } from '../ui/display/skeleton';
import { JobStatusSign } from '../ui/display/status';
import { Attempts } from './attempts';
import { ConnectionSign } from './connection-sign';
import { JobActions } from './job-actions';
import { JobFacts } from './job-facts';
import { JobFailure } from './job-failure';
import { JobGraph } from './job-graph';
import { JobLog } from './job-log';
import { Outputs } from './outputs/outputs';
import { Timeline } from './timeline';
import { useDeploymentOf } from './use-deployment-of';
import { useJob } from './use-job';
import type { JobStream } from './use-job-stream';
import './job.css';

const route = getRouteApi('/jobs/$jobId');
/** A graph of more nodes gets the whole width. */
const LARGE_GRAPH = 8;

/** One job: how it goes while it runs, and what came of it. */
export function JobPage(): ReactNode {
  const { jobId } = route.useParams();
  const { deployment } = route.useSearch();
  const place = useMemo(() => ({ id: jobId, deployment }), [jobId, deployment]);
  const { query, stream } = useJob(place);
  const isSought = useDeploymentOf(place, query.error);
  const job = query.data;
  return (
    <Page
      title={`Job ${shortId(jobId)}`}
      above={
        <Link to="/jobs" search={deployment === undefined ? {} : { deployment }} className="back">
          <Icon name="left" size={14} />
          Jobs
        </Link>
      }
      beside={
        job && (
          <>
            <JobStatusSign status={job.status} />
            <ConnectionSign connection={stream.connection} />
          </>
        )
      }
      actions={job && <JobActions job={job} place={place} />}
    >
      {query.isError && !isSought && <ErrorNote error={query.error} onRetry={() => query.refetch()} />}
      {(query.isPending || isSought) && <Skeleton lines={8} />}
      {job && <Content job={job} place={place} stream={stream} />}
    </Page>
  );
}

function Content({ job, place, stream }: { job: Job; place: JobPlace; stream: JobStream }): ReactNode {
  const { preview, seen } = stream;
  const [selected, setSelected] = useState<string | null>(job.error?.node_id ?? null);
  const workflow = useQuery(jobWorkflowQuery(place));
  const timings = useQuery(jobNodesQuery(place, isEnded(job.status)));
  const graph = useMemo(
    () => (workflow.data === undefined ? null : readGraph(graphTextOf(workflow.data))),
    [workflow.data],
  );
  const nodes = useMemo(() => (graph !== null && 'nodes' in graph ? graph.nodes : []), [graph]);
  const times = timings.data?.nodes;
  const states = useMemo(() => nodeStates(nodes, job, times ?? [], seen), [nodes, job, times, seen]);
  return (
    <>
      <JobFacts job={job} deployment={place.deployment} />
      {job.error !== null && <JobFailure error={job.error} onShow={setSelected} />}
      <div className="job-columns" data-large={nodes.length > LARGE_GRAPH}>
        <JobGraph job={job} nodes={nodes} states={states} selected={selected} onSelect={setSelected} />
        <Outputs job={job} preview={preview} nodes={nodes} onShow={setSelected} />
      </div>
      <Timeline job={job} times={times ?? []} nodes={nodes} onShow={setSelected} />
      <Attempts job={job} place={place} />
      <JobLog job={job} />
    </>
  );
}

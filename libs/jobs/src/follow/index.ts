export { JobPresenter, presentAttempts, presentLogs, showsLogs } from './job.presenter';
export { JobPolls } from './job-polls.service';
export { JobReads } from './job-reads.service';
export { JobStore } from './job.store';
export { JobStreams } from './job-streams';
export { QueueEndsStore } from './queue-ends.store';
export { QueueRanks } from './queue-ranks';
export { type StreamItem } from './stream-state';
export { WebhookJobs } from './webhook-jobs';

export { type JobAttempt } from './job-attempts';
export { JobPolls } from './job-polls.service';
export { JobReads } from './job-reads.service';
export { JobStore } from './job.store';
export { JobStreams } from './job-streams';
export { type JobVersion } from './job-version';
export { QueueEndsStore } from './queue-ends.store';
export { QueueRanks } from './queue-ranks';
export { type StreamItem } from './stream-state';

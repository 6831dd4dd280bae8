export { JobReads } from './job-reads.service';
export { JobStore } from './job.store';
export { JobStreams } from './job-streams';
export { type StreamItem } from './stream-state';

export { JobReads, type JobRecordPage } from './job-reads.service';
export { JobStore } from './job.store';
export { JobStreams } from './job-streams';
export { STREAM_TIMING, type StreamTiming } from './stream-schedule';
export { type StreamItem } from './stream-state';

export { readEvents } from './event-stream';
export { type Cancellation, INTERRUPT_POLICIES, InterruptGuard, type InterruptPolicy } from './interrupt-guard';
export { JobFollower } from './job-follower';
export { knownOutcome, WriteGuard } from './known-outcome';
export { SHOW_CURSOR } from './live.progress-view';
export { statusMark } from './progress-frame';
export type { ProgressView } from './progress-view';
export { progressView } from './show-progress';
export { chargedMicros, type FileReport, type JobReport, summaryJson, summaryLines } from './summary';

export { cancelRun, type CancelResult } from './cancel';
export { ComfyuiRun } from './comfyui-run';
export { FetchTimes } from './fetch-times';
export { endsProcess, gpuFaultOf, type GpuFault } from './gpu-fault';
export type { RunOutcome, RunTrace } from './run-outcome';
export { createScrubber } from './scrub';

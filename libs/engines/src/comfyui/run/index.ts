export { ComfyuiRun } from './comfyui-run';
export { endsProcess, gpuFaultOf, type GpuFault } from './gpu-fault';
export type { RunOutcome, RunTrace } from './run-outcome';
export { createScrubber } from './scrub';

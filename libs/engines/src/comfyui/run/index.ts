export { ComfyuiRun } from './comfyui-run';
export type { RunOutcome, RunTrace } from './run-outcome';
export { createScrubber } from './scrub';

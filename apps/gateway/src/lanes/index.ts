export { WorkerControls } from './worker-controls';
export { WorkerLanes } from './worker-lanes';

export { OutputRecorder, OutputRefused, type OutputDraft } from './output-recorder';
export { OutputStore } from './output.store';

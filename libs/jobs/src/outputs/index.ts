export { OutputRecorder, type OutputDraft } from './output-recorder';
export { OutputStore } from './output.store';

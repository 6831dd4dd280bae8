export { HELD_BYTES, isText } from './engine';
export type {
  Engine,
  EngineEvent,
  EngineFailure,
  EngineHealth,
  EngineOutput,
  EngineResult,
  EngineRunContext,
  EngineWork,
  InputFile,
} from './engine';
export { observed } from './observed';
export { ComfyuiEngine, DEFAULT_BOUNDS, type AttachOptions, type OwnOptions } from './comfyui';

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
export {
  DEFAULT_BOUNDS,
  DEFAULT_LIMITS,
  type AttachOptions,
  type ComfyuiBounds,
  type ComfyuiEngineOptions,
  type ComfyuiFolders,
  type OwnOptions,
} from './comfyui/comfyui.config';
export { ComfyuiEngine } from './comfyui/comfyui.engine';
export { catalogueDigest } from './comfyui/graph/object-info';

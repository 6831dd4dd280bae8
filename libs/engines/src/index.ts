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
  catalogueDigest,
  ComfyuiEngine,
  DEFAULT_BOUNDS,
  DEFAULT_LIMITS,
  type AttachOptions,
  type ComfyuiBounds,
  type ComfyuiEngineOptions,
  type ComfyuiFolders,
  type OwnOptions,
} from './comfyui';

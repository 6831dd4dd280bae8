export {
  DEFAULT_BOUNDS,
  DEFAULT_LIMITS,
  type AttachOptions,
  type ComfyuiBounds,
  type ComfyuiEngineOptions,
  type ComfyuiFolders,
  type OwnOptions,
} from './comfyui.config';
export { ComfyuiEngine } from './comfyui.engine';
export { catalogueDigest } from './graph';

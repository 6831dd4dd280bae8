export { DEFAULT_BOUNDS, type AttachOptions, type OwnOptions } from './comfyui.config';
export { ComfyuiEngine } from './comfyui.engine';

export { AssetEraser } from './asset-eraser';
export { AssetErasureStore } from './asset-erasure.store';

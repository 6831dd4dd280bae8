export { Camera } from './camera.mjs';
export { plant, plantRows } from './plant.mjs';
export { SCREENS } from './screens.mjs';

export { Camera } from './camera.mjs';
export { plant, plantRows } from './plant.mjs';
export { OPERATOR_SCREENS, SCREENS } from './screens.mjs';

export { beginFigures, endFigures } from './figures.mjs';
export { buildImages } from './images.mjs';
export { runInside } from './namespace.mjs';
export { assertMachine } from './needs.mjs';
export { buildPrograms } from './programs.mjs';

export type { EngineSlot } from './engine-slot';
export { EngineSlots, type Release } from './engine-slots';
export { openEngines, planEngines, type OpenEngine } from './open-engines';
export { PublishedCatalogue } from './published-catalogue';

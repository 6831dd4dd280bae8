export type { EngineSlot } from './engine-slot';
export { EngineSlots, type Release } from './engine-slots';
export { openEngines, planEngines, type OpenEngine } from './open-engines';
export type { WarmUpTimes } from './warmth';
export { PublishedCatalogue } from './published-catalogue';

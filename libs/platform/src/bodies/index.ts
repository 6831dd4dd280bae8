export { BodiesInFlight } from './bodies-in-flight';
export { dropRest } from './drop-rest';
export { GatheredBytes } from './gathered-bytes';
export { GatheringMessage, assertFewPieces } from './gathering-message';
export { SharedBytes } from './shared-bytes';
export { whenClosed } from './when-closed';

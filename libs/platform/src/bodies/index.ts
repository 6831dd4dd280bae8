export { BodiesInFlight } from './bodies-in-flight';
export { dropRest } from './drop-rest';
export { whenClosed } from './when-closed';

export { arrivingBytes } from './arriving-bytes';
export { BodiesInFlight, holdBytes } from './bodies-in-flight';
export { parseFields, readBytes, readJson } from './body';
export { addressOf, networkOf } from './client-address';
export { configureOpsApp, createPublicApp } from './public-app';
export { contextOf } from './request-context';
export { type RouteTable } from './route-table';
export { type Surface } from './surface';

export { arrivingBytes } from './arriving-bytes';
export { parseFields, readBytes, readJson, readText } from './body';
export { addressOf, networkOf } from './client-address';
export { drainPublic } from './drain';
export { configureOpsApp, createPublicApp } from './public-app';
export { contextOf } from './request-context';
export { type RouteTable } from './route-table';
export { STREAM_HEADERS, Streams, type StreamEvent } from './streams';
export { type Surface } from './surface';

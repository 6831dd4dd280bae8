export { drainPublic } from './drain';
export { OpenStreams } from './open-streams';
export { StreamChores } from './stream-chores';
export { STREAM_HEADERS, Streams, type StreamEvent } from './streams';

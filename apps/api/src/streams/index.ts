export { drainPublic } from './drain';
export { OpenStreams, holderOf } from './open-streams';
export { StreamChores } from './stream-chores';
export { Streams, answerHead, type StreamEvent } from './streams';

export { drainPublic } from './drain';
export { answerHead } from './event-answer';
export { withoutLineBreaks } from './line-breaks';
export { OpenStreams, holderOf } from './open-streams';
export { StreamChores } from './stream-chores';
export { Streams, type StreamEvent } from './streams';

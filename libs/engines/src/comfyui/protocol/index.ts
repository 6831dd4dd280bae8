export { ComfyuiClient, UnexpectedAnswer, type Queue, type SystemStats } from './comfyui.client';
export { ComfyuiSocket, type SocketListener } from './comfyui.socket';
export { readFrame, type Frame } from './frames';
export type { HistoryEntry } from './history';
export { Unreachable } from './http-transport';
export { toStrictJson } from './lenient-json';
export { withoutTags } from './log-tags';
export { readLargeMessage } from './large-message';
export { locatePrompt } from './locate-prompt';
export {
  listOf,
  objectOf,
  readMessage,
  readProgressState,
  textOf,
  type NodeError,
  type NodeOutput,
  type ServerMessage,
} from './messages';
export { mapExtraData, postPrompt } from './post-prompt';
export { baseName, type Fetched, type FetchTarget, type ServerFile } from './server-file';
export { MAX_MESSAGE_BYTES, MAX_TEXT_BYTES, TooLarge, inMib } from './size-bounds';

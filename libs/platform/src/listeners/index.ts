export { Connections } from './connections';
export { JSON_TYPE, endWithJson, sendText } from './send-text';

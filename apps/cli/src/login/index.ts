export { checkedKey, type GlobalFlags, isGiven, parseBaseUrl, resolveSettings, type Settings } from './settings';
export { readLogin, removeLogin, writeLogin } from './stored-login';

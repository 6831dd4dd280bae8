export { assetReference, GraphText, valueJson } from './graph-text';
export { memberText } from './json-text';

export { assetReference, GraphText, type InputPlace, valueJson } from './graph-text';
export { memberText } from './json-text';

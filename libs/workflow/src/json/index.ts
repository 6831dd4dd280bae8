export { member, members, sliceOf, type JsonNode } from './json-document';
export { JsonLimitError, JsonSyntaxError, jsonFault } from './json-error';
export { itemPieces, memberPieces, type JsonPiece } from './json-pieces';
export { parseJson, type JsonLimits } from './json-parser';
export { jsonNumber, pythonFloat, pythonInt } from './python-number';
export { copyOf } from './text-copy';

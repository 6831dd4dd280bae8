export { arrivingBytes } from './body/arriving-bytes';
export { confirmAccess, confirmAlso } from './body/confirm-access';
export { LARGE_ANSWER_CHARACTERS, countAsPoll, heldBytesOf, holdBytes } from './body/hold-bytes';
export { countValues } from './body/count-values';
export { inTurn } from './body/in-turn';
export { senderOf } from './body/sender';
export {
  JSON_OBJECT,
  SMALL_BODY_BYTES,
  assertNotEncoded,
  largerThan,
  parseFields,
  readBytes,
  readJson,
} from './body/body';
export { UPSTREAM_ERROR } from './error-envelope';
export { Printed } from './printed';
export { configureOpsApp, createPublicApp } from './public-app';
export { readLabelFilter } from './label-filter';
export { assertNoForeignPage } from './own-hosts';
export { addressOf, contextOf, countAsStranger, networkOf } from './request-context';
export { targetOf } from './request-target';
export { endHead, sendStream } from './send-stream';
export { type RouteTable } from './route-table';
export { type Surface } from './surface';
export { sendZip, zipHeaders } from './zip/zip-answer';
export { type ZipEntry } from './zip/zip-stream';

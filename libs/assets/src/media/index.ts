export { outputTypeOf, sniffContentType } from './content-type';
export { essenceOf, isMediaType } from './media-type';

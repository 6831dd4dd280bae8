/** PostgreSQL stores neither NUL nor half a surrogate pair; engines and their nodes print both, and clients send them. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

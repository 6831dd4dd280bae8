import fc from 'fast-check';

/** A change to one place of a text of bytes: put another byte there, drop it, add one, or say what follows twice. */
export interface Edit {
  at: number;
  byte: number;
  kind: 'replace' | 'drop' | 'insert' | 'repeat';
}

/** @param reach how far from the beginning of a text its places are; those of a shorter text are counted round and round. */
export function anyEdit(reach: number): fc.Arbitrary<Edit> {
  const kind = fc.constantFrom('replace', 'drop', 'insert', 'repeat');
  return fc.record({ at: fc.nat(reach), byte: fc.nat(255), kind });
}

export function mutated(bytes: Buffer, edits: Edit[]): Buffer {
  return edits.reduce(edited, bytes);
}

function edited(bytes: Buffer, { at: reach, byte, kind }: Edit): Buffer {
  const at = reach % (bytes.length + 1);
  const [before, from, after] = [bytes.subarray(0, at), bytes.subarray(at), bytes.subarray(at + 1)];
  switch (kind) {
    case 'replace':
      return Buffer.concat([before, Buffer.from([byte]), after]);
    case 'drop':
      return Buffer.concat([before, after]);
    case 'insert':
      return Buffer.concat([before, Buffer.from([byte]), from]);
    case 'repeat':
      return Buffer.concat([before, bytes.subarray(at, at + 40), from]);
  }
}

/** A body cut at these places, as chunks of the chunked transfer coding (RFC 9112, 7.1) without the last one. */
export function chunksOf(body: Buffer, cuts: number[]): Buffer[] {
  const ends = [...new Set([...cuts.map((cut) => cut % (body.length + 1)), body.length])].sort((a, b) => a - b);
  return ends
    .map((end, at) => body.subarray(ends[at - 1] ?? 0, end))
    .filter((piece) => piece.length > 0)
    .map((piece) => Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]));
}

export const LAST_CHUNK = Buffer.from('0\r\n\r\n');

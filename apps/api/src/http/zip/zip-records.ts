/** What the records of an archive say about a file. */
export interface ZipFile {
  /** UTF-8. */
  name: Buffer;
  mtime: Date;
  /** Where its local header begins in the archive, in bytes. */
  offset: number;
  crc: number;
  sizeBytes: number;
}

/** From here on a number stands in the fields of ZIP64, and this in the one of old. */
const LARGE = 0xffff_ffff;
/** The same for the number of files. */
const MANY = 0xffff;

const VERSION = 20;
const VERSION_WITH_ZIP64 = 45;
/** Unix, by version 6.3 of the format. */
const MADE_BY = (3 << 8) | 63;
/** The name is UTF-8, and what is known only after the file's bytes stands behind them. */
const FLAGS = (1 << 11) | (1 << 3);
/** A file that its owner and group may write. */
const MODE = 0o100664;

const LOCAL_BYTES = 30;
const DESCRIPTOR_BYTES = 16;
const LARGE_DESCRIPTOR_BYTES = 24;
const RECORD_BYTES = 46;
const TIME_FIELD_BYTES = 9;
const ZIP64_FIELD_BYTES = 28;
const END_BYTES = 22;
const ZIP64_END_BYTES = 56;
const ZIP64_LOCATOR_BYTES = 20;

const FIRST_TIME = new Date(1980, 0, 1);
const LAST_TIME = new Date(2107, 11, 31, 23, 59, 58);
const LAST_UNIX_SECONDS = 0x7fff_ffff;

// The layouts are those of PKWARE's APPNOTE 6.3, sections 4.3 to 4.5, all little-endian. Fields that are not written are zero: one disk,
// bytes that are stored as they are, no comments.

/** What stands before a file's bytes. */
export function localHeader({ name, mtime }: Pick<ZipFile, 'name' | 'mtime'>): Buffer {
  const header = Buffer.alloc(LOCAL_BYTES + name.length);
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(VERSION, 4);
  header.writeUInt16LE(FLAGS, 6);
  header.writeUInt32LE(dosTimeOf(mtime), 10);
  header.writeUInt16LE(name.length, 26);
  name.copy(header, LOCAL_BYTES);
  return header;
}

/** What stands behind a file's bytes. Its numbers are as wide as those of the file's record in the directory. */
export function dataDescriptor(file: Pick<ZipFile, 'offset' | 'crc' | 'sizeBytes'>): Buffer {
  const isLarge = needsZip64(file);
  const descriptor = Buffer.alloc(isLarge ? LARGE_DESCRIPTOR_BYTES : DESCRIPTOR_BYTES);
  descriptor.writeUInt32LE(0x08074b50, 0);
  descriptor.writeUInt32LE(file.crc, 4);
  if (isLarge) {
    writeUInt64(descriptor, file.sizeBytes, 8);
    writeUInt64(descriptor, file.sizeBytes, 16);
  } else {
    descriptor.writeUInt32LE(file.sizeBytes, 8);
    descriptor.writeUInt32LE(file.sizeBytes, 12);
  }
  return descriptor;
}

/** A file's record in the directory at the end of the archive. */
export function directoryRecord(file: ZipFile): Buffer {
  const { name, mtime, crc, sizeBytes, offset } = file;
  const isLarge = needsZip64(file);
  const fieldBytes = TIME_FIELD_BYTES + (isLarge ? ZIP64_FIELD_BYTES : 0);
  const record = Buffer.alloc(RECORD_BYTES + name.length + fieldBytes);
  record.writeUInt32LE(0x02014b50, 0);
  record.writeUInt16LE(MADE_BY, 4);
  record.writeUInt16LE(isLarge ? VERSION_WITH_ZIP64 : VERSION, 6);
  record.writeUInt16LE(FLAGS, 8);
  record.writeUInt32LE(dosTimeOf(mtime), 12);
  record.writeUInt32LE(crc, 16);
  record.writeUInt32LE(isLarge ? LARGE : sizeBytes, 20);
  record.writeUInt32LE(isLarge ? LARGE : sizeBytes, 24);
  record.writeUInt16LE(name.length, 28);
  record.writeUInt16LE(fieldBytes, 30);
  record.writeUInt32LE(MODE * 0x1_0000, 38);
  record.writeUInt32LE(isLarge ? LARGE : offset, 42);
  name.copy(record, RECORD_BYTES);
  writeTimeField(record, mtime, RECORD_BYTES + name.length);
  if (isLarge) writeZip64Field(record, file, RECORD_BYTES + name.length + TIME_FIELD_BYTES);
  return record;
}

/** The end of the archive. @param directory how many records it has, where it begins in the archive, and how long it is. */
export function archiveEnd(directory: { files: number; offset: number; sizeBytes: number }): Buffer {
  const { files, offset, sizeBytes } = directory;
  const end = Buffer.alloc(END_BYTES);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(Math.min(files, MANY), 8);
  end.writeUInt16LE(Math.min(files, MANY), 10);
  end.writeUInt32LE(Math.min(sizeBytes, LARGE), 12);
  end.writeUInt32LE(Math.min(offset, LARGE), 16);
  if (files < MANY && sizeBytes < LARGE && offset < LARGE) return end;
  const large = Buffer.alloc(ZIP64_END_BYTES + ZIP64_LOCATOR_BYTES);
  large.writeUInt32LE(0x06064b50, 0);
  // Without this field and the one before it.
  writeUInt64(large, ZIP64_END_BYTES - 12, 4);
  large.writeUInt16LE(MADE_BY, 12);
  large.writeUInt16LE(VERSION_WITH_ZIP64, 14);
  writeUInt64(large, files, 24);
  writeUInt64(large, files, 32);
  writeUInt64(large, sizeBytes, 40);
  writeUInt64(large, offset, 48);
  large.writeUInt32LE(0x07064b50, ZIP64_END_BYTES);
  writeUInt64(large, offset + sizeBytes, ZIP64_END_BYTES + 8);
  large.writeUInt32LE(1, ZIP64_END_BYTES + 16);
  return Buffer.concat([large, end]);
}

function needsZip64({ offset, sizeBytes }: Pick<ZipFile, 'offset' | 'sizeBytes'>): boolean {
  return offset >= LARGE || sizeBytes >= LARGE;
}

/** The time in UTC, which the format of old has in no known zone. */
function writeTimeField(record: Buffer, mtime: Date, at: number): void {
  record.writeUInt16LE(0x5455, at);
  record.writeUInt16LE(TIME_FIELD_BYTES - 4, at + 2);
  // It has the times of change and of access; in the directory only the first stands there.
  record.writeUInt8(3, at + 4);
  record.writeInt32LE(Math.max(0, Math.min(Math.floor(mtime.getTime() / 1000), LAST_UNIX_SECONDS)), at + 5);
}

function writeZip64Field(record: Buffer, { sizeBytes, offset }: ZipFile, at: number): void {
  record.writeUInt16LE(1, at);
  record.writeUInt16LE(ZIP64_FIELD_BYTES - 4, at + 2);
  writeUInt64(record, sizeBytes, at + 4);
  writeUInt64(record, sizeBytes, at + 12);
  writeUInt64(record, offset, at + 20);
}

/** The day in the upper half, the time in the lower, by the clock of this machine, in steps of two seconds. */
function dosTimeOf(mtime: Date): number {
  const time = mtime < FIRST_TIME ? FIRST_TIME : mtime > LAST_TIME ? LAST_TIME : mtime;
  const day = ((time.getFullYear() - 1980) << 9) | ((time.getMonth() + 1) << 5) | time.getDate();
  return day * 0x1_0000 + ((time.getHours() << 11) | (time.getMinutes() << 5) | (time.getSeconds() >> 1));
}

function writeUInt64(buffer: Buffer, value: number, at: number): void {
  buffer.writeBigUInt64LE(BigInt(value), at);
}

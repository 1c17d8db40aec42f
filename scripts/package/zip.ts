// Writes and reads zip files of the plain kind: deflated entries, no encryption, below 4 GiB. The same files give the same
// bytes on the same Node. Source: PKWARE's APPNOTE.TXT 6.3.10, sections 4.3.7, 4.3.12 and 4.3.16.
import { crc32, deflateRawSync, inflateRawSync } from "node:zlib";

export interface ZipEntry {
  /** With `/` between folders, relative. */
  readonly name: string;
  readonly content: Buffer;
}

const localSignature = 0x04034b50;
const centralSignature = 0x02014b50;
const endSignature = 0x06054b50;
// Midnight of 1 January 1980, the first time that the form can say: a build time would make every zip another one.
const dosDate = 0x0021;
// `rw-r--r--` of a regular file, made by Unix: without it some tools unpack files that nobody may read.
const unixMode = 0o100644;

/** The zip of `entries`, sorted by name. */
export function zip(entries: readonly ZipEntry[]): Buffer {
  const locals: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const entry of [...entries].sort((one, other) => (one.name < other.name ? -1 : 1))) {
    const packed = deflateRawSync(entry.content, { level: 9 });
    const shared = sharedFields(entry, packed);
    const name = Buffer.from(entry.name);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(localSignature, 0);
    shared.copy(local, 4);
    locals.push(local, name, packed);
    central.push(centralHeader(shared, offset), name);
    offset += local.length + name.length + packed.length;
  }
  const directory = Buffer.concat(central);
  return Buffer.concat([...locals, directory, endRecord(entries.length, directory.length, offset)]);
}

/** The 26 bytes that local and central headers have in common, from "version needed" to "extra field length". */
function sharedFields({ name, content }: ZipEntry, packed: Buffer): Buffer {
  const fields = Buffer.alloc(26);
  fields.writeUInt16LE(20, 0); // version needed: 2.0, deflate
  fields.writeUInt16LE(0x0800, 2); // names are UTF-8
  fields.writeUInt16LE(8, 4); // deflate
  fields.writeUInt16LE(dosDate, 8);
  fields.writeUInt32LE(crc32(content), 10);
  fields.writeUInt32LE(packed.length, 14);
  fields.writeUInt32LE(content.length, 18);
  fields.writeUInt16LE(Buffer.byteLength(name), 22);
  return fields;
}

function centralHeader(shared: Buffer, offset: number): Buffer {
  const header = Buffer.alloc(46);
  header.writeUInt32LE(centralSignature, 0);
  header.writeUInt16LE((3 << 8) | 20, 4); // made by Unix, 2.0
  shared.copy(header, 6);
  header.writeUInt32LE(unixMode * 0x10000, 38);
  header.writeUInt32LE(offset, 42);
  return header;
}

function endRecord(count: number, size: number, offset: number): Buffer {
  const record = Buffer.alloc(22);
  record.writeUInt32LE(endSignature, 0);
  record.writeUInt16LE(count, 8);
  record.writeUInt16LE(count, 10);
  record.writeUInt32LE(size, 12);
  record.writeUInt32LE(offset, 16);
  return record;
}

/** The entries of a zip as `zip` writes it. Throws where it is not one, or an entry does not have its checksum. */
export function unzip(bytes: Buffer): readonly ZipEntry[] {
  const end = bytes.length - 22;
  if (end < 0 || bytes.readUInt32LE(end) !== endSignature) throw new Error("not a zip, or one with a comment");
  const entries: ZipEntry[] = [];
  let at = bytes.readUInt32LE(end + 16);
  for (let left = bytes.readUInt16LE(end + 10); left > 0; left -= 1) {
    if (bytes.readUInt32LE(at) !== centralSignature) throw new Error("the zip's directory is damaged");
    const nameLength = bytes.readUInt16LE(at + 28);
    const name = bytes.toString("utf8", at + 46, at + 46 + nameLength);
    const start = bytes.readUInt32LE(at + 42) + 30 + nameLength;
    const content = inflateRawSync(bytes.subarray(start, start + bytes.readUInt32LE(at + 20)));
    if (crc32(content) !== bytes.readUInt32LE(at + 16)) throw new Error(`${name} does not have its checksum`);
    entries.push({ name, content });
    at += 46 + nameLength;
  }
  return entries;
}

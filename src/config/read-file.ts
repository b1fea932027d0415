import { isUtf8 } from 'node:buffer';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { findNearest } from './nearest.ts';

/** Bytes of a file that was asked for, or one sentence that says why not. */
export type FileBytes =
  | { readonly kind: 'read'; readonly bytes: Buffer }
  | { readonly kind: 'failed'; readonly message: string; readonly suggestion: string | null };

export function readBytes(path: string, shown: string): FileBytes {
  try {
    if (statSync(path).isDirectory()) {
      const suggestion = listNames(path).includes('run.yaml') ? join(shown, 'run.yaml') : null;
      return { kind: 'failed', message: `"${shown}" is a folder, not a file`, suggestion };
    }
    return { kind: 'read', bytes: readFileSync(path) };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    if (code !== 'ENOENT' && code !== 'ENOTDIR') {
      return { kind: 'failed', message: `"${shown}" cannot be read (${code})`, suggestion: null };
    }
    const suggestion = findNearest(basename(path), listNames(dirname(path)));
    return { kind: 'failed', message: `the file "${shown}" does not exist`, suggestion };
  }
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** As `readBytes`, checked to be UTF-8 and without its byte-order mark. */
export function readTextBytes(path: string, shown: string): FileBytes {
  const file = readBytes(path, shown);
  if (file.kind === 'failed') return file;
  const encoding = findOtherEncoding(file.bytes);
  if (encoding !== null) {
    const message = `"${shown}" is ${encoding}; save it with the encoding UTF-8`;
    return { kind: 'failed', message, suggestion: null };
  }
  const marked = file.bytes[0] === 0xef && file.bytes[1] === 0xbb && file.bytes[2] === 0xbf;
  return { kind: 'read', bytes: marked ? file.bytes.subarray(3) : file.bytes };
}

/** Name of an encoding that is not UTF-8, or null. */
function findOtherEncoding(bytes: Buffer): string | null {
  const [first, second, third, fourth] = bytes;
  const utf32 = first === 0xff && second === 0xfe && third === 0 && fourth === 0;
  if (utf32) return 'in the encoding UTF-32';
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff))
    return 'in the encoding UTF-16';
  if (bytes.length >= 4 && (first === 0) !== (second === 0) && (third === 0) !== (fourth === 0)) {
    return 'in the encoding UTF-16 (without byte-order mark)';
  }
  if (isUtf8(bytes)) return null;
  const offset = findInvalidOffset(bytes);
  const line = bytes.subarray(0, offset).filter((byte) => byte === 0x0a).length + 1;
  const byte = (bytes[offset] ?? 0).toString(16).toUpperCase();
  return `not in the encoding UTF-8 (byte 0x${byte} in line ${line} is not; perhaps Windows-1252 or Latin-1)`;
}

/** Offset of the first byte that is no part of a UTF-8 text, by halving. */
function findInvalidOffset(bytes: Buffer): number {
  let valid = 0;
  let length = bytes.length;
  while (length - valid > 1) {
    const middle = Math.floor((valid + length) / 2);
    if (isUtf8Prefix(bytes.subarray(0, middle))) valid = middle;
    else length = middle;
  }
  while (valid > 0 && !isUtf8(bytes.subarray(0, valid))) valid -= 1;
  return valid;
}

/** Whether the bytes are UTF-8, perhaps with the last character cut off. */
function isUtf8Prefix(bytes: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

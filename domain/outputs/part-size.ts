/**
 * Sizes of the parts of large objects.
 *
 * Few: some stores keep the list of an object's parts where little room is. The gateway of `npm start` keeps it in an
 * extended attribute, of which ext4 has 4 KB: some 700 parts. Not too large: each part is staged before it is sent.
 */
import { limits } from '../limits.ts';

const mebibyte = 1024 * 1024;
export const minPartBytes = 8 * mebibyte;
const largePartBytes = 64 * mebibyte;
const fewParts = 600;
/** Parts of the first size, where the length of the object is unknown. */
const growingParts = 150;
/** Then parts double in size after this many, so that 10,000 of them reach 8 TB. */
const partsOfOneSize = 1_000;
/** Numbers that are left for parts that broke off. */
const spareNumbers = 1_000;

/** @param sizeBytes of the whole object */
export function partBytesOf(sizeBytes: number): number {
  const fewest = Math.min(largePartBytes, Math.ceil(sizeBytes / fewParts));
  return Math.max(minPartBytes, fewest, Math.ceil(sizeBytes / (limits.uploadParts - spareNumbers)));
}

/** The size of a part of an object whose length is not known. @param number from 1 */
export function growingPartBytes(number: number): number {
  const first = Math.min(largePartBytes, minPartBytes * 2 ** Math.floor((number - 1) / growingParts));
  return Math.max(first, minPartBytes * 2 ** Math.floor((number - 1) / partsOfOneSize));
}

/** Whether parts may be as short as a store takes them, where the bytes come in pieces of any length. */
export const mayHaveShortParts = (sizeBytes: number): boolean =>
  sizeBytes <= fewParts * limits.uploadPartMinBytes;

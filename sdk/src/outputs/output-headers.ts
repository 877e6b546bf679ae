/** The options of an output, as headers (contract: Runner rules 3). */
import { metadataHeader } from '../../../client/metadata-header.ts';
import { Input } from '../inputs/inputs.ts';
import { jsonText } from '../json.ts';

const identifierForm = /^[A-Za-z0-9._-]{1,100}$/;
const metadataBytes = 4 * 1024;
const sourceKeyForm = /^[^\p{Cc}\u2028\u2029]{1,255}$/u;

export interface OutputOptions {
  /**
   * Unique in the node: 1 to 100 letters, digits, `.`, `_`, `-`. A write with an identifier that the node already has
   * leaves that output unchanged. So include the run (`task.runId`), else a reprocess writes nothing new, and the input
   * or part of the output. Default: `<runId>.<watermark>.<n>`, for the n-th such output since the watermark moved
   * there; correct as long as each attempt writes in the same order.
   */
  readonly identifier?: string;
  /** Default: `text/plain; charset=utf-8` for strings, else `application/octet-stream`. */
  readonly contentType?: string;
  /** Up to 4 KB as JSON; no key begins with `$`. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /**
   * Names what this is the result of, for example `input.sourceKey`: outputs of the node with the same key are versions of
   * one source, of which dashboards show the newest. Without one, what a reprocess writes stands beside what was there. 1 to
   * 255 characters; kept as `sourceKey` of the metadata.
   */
  readonly sourceKey?: string;
  /** Compresses on the way; readers get plain bytes again unless they ask for gzip. */
  readonly gzip?: boolean;
  /** Declares that the bytes are already gzip. */
  readonly contentEncoding?: 'gzip';
  /**
   * The last input that is consumed with this output: moves the watermark there and publishes this output and all
   * earlier ones, all or none. Set it on the last output of an input.
   */
  readonly watermark?: Input | number;
}

/** @throws RangeError, TypeError for what the platform would refuse */
export function outputHeaders(
  options: OutputOptions,
  identifier: string,
  contentType: string,
): Record<string, string> {
  if (!identifierForm.test(identifier)) {
    throw new RangeError(
      `An output identifier holds 1 to 100 letters, digits, '.', '_', '-': '${identifier}'.`,
    );
  }
  const metadata = metadataOf(options);
  return {
    'x-platform-output-identifier': identifier,
    'content-type': options.contentType ?? contentType,
    ...(options.gzip === true || options.contentEncoding === 'gzip' ? { 'content-encoding': 'gzip' } : {}),
    ...(metadata === undefined ? {} : { 'x-platform-output-metadata': checkedMetadata(metadata) }),
    ...(options.watermark === undefined
      ? {}
      : { 'x-platform-watermark': String(inputIdOf(options.watermark)) }),
  };
}

function metadataOf({ metadata, sourceKey }: OutputOptions): OutputOptions['metadata'] {
  if (sourceKey === undefined) return metadata;
  if (typeof sourceKey !== 'string' || sourceKey.trim() === '' || !sourceKeyForm.test(sourceKey))
    throw new RangeError(`A source key has 1 to 255 characters, and no control characters: ${sourceKey}.`);
  return { ...metadata, sourceKey };
}

export function inputIdOf(input: Input | number): number {
  return input instanceof Input ? input.outputId : input;
}

function checkedMetadata(metadata: Readonly<Record<string, unknown>>): string {
  const header = metadataHeader(jsonText(metadata));
  if (header.length > metadataBytes) {
    throw new RangeError(
      `Output metadata holds at most ${metadataBytes} bytes as JSON, not ${header.length}.`,
    );
  }
  const reserved = Object.keys(metadata).find((key) => key.startsWith('$'));
  if (reserved !== undefined)
    throw new RangeError(`Metadata keys that begin with '$' are reserved: '${reserved}'.`);
  return header;
}

/** `sdp ingest`: a file for a managed ingest, as a device sends it. */
import { type AddCommand, examples, wholeNumber } from '../cli.ts';
import { placeOf } from '../connection.ts';
import { contentTypeOf, mediaType } from '../content-type.ts';
import { PlatformClient } from '../platform-client.ts';
import { Progress } from '../progress.ts';
import { ingestFile, withRetries } from '../transfers.ts';
import { mustBeFile } from './upload.ts';

interface IngestOptions {
  readonly contentType?: string;
  readonly identifier?: string;
  readonly retries: number;
}

export const addIngest: AddCommand = (program, cli) => {
  program
    .command('ingest')
    .description(
      'Sends a file to a managed ingest. A repeat of the command sends the same identifier, derived from the ' +
        "file's name and bytes, so it makes no second session.",
    )
    .argument('<urlPath>', 'path of the ingest, as in /ingest/<urlPath>')
    .argument('<file>')
    .option('--content-type <type>', 'media type (default: by the file name)', mediaType)
    .option('--identifier <text>', 'identifier of the output')
    .option('--retries <number>', 'further tries after a temporary failure', wholeNumber(0, 100), 5)
    .addHelpText(
      'after',
      `${examples('ingest devices/rig-3 lap-7.csv')}\n\nSDP_INGEST_SECRET is the secret of the ingest. No sign-in is needed.`,
    )
    .action(async (urlPath: string, file: string, options: IngestOptions) => {
      await mustBeFile(file);
      const platform = new PlatformClient((await placeOf(cli.url)).address);
      const contentType = options.contentType ?? contentTypeOf(file);
      const request = { urlPath, file, contentType, identifier: options.identifier };
      const { retries } = options;
      // The identifier makes a repeat the same upload.
      const sent = await withRetries({ file, retries }, new Progress(cli.isJson), (onProgress) =>
        ingestFile(platform, request, onProgress),
      );
      const { sessionId, nodeOutputId } = sent;
      const output = nodeOutputId === null ? 'Stored and queued for a node' : `Output ${nodeOutputId}`;
      cli.print(sent, () => `${output} of session ${sessionId}.`);
    });
};

import { buffer } from 'node:stream/consumers';
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { ContentBlock } from '@modelcontextprotocol/server';
import { ContentService } from '@millrace/assets';
import { Refusal, type Output } from '@millrace/contracts';
import { API_SETTINGS, type ApiSettings } from '../api.config';
import { holdBytes } from '../http';
import type { ToolCall } from './tool';

/** Pictures that models see. All else that is a picture, SVG among it, is a link. */
const PICTURES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
const SOUNDS = new Set(['audio/mpeg', 'audio/wav', 'audio/flac', 'audio/ogg', 'audio/mp4', 'audio/aac']);
const TEXTS = new Set(['text/plain', 'application/json']);
/** The revisions of the protocol from which on clients know these blocks: strict ones refuse an answer with a block that they do not know. */
const SOUNDS_SINCE = '2025-03-26';
const LINKS_SINCE = '2025-06-18';
/** What one byte takes in memory until the client has it: itself, in base64, in the message, and in the event. */
const COPIES = 4;

/** What outputs are to a model: pictures, sounds and texts while they fit into an answer, links to all others, as far as its client knows them. */
@Injectable()
export class OutputContent {
  private readonly logger = new Logger('MCP');

  constructor(
    private readonly content: ContentService,
    @Inject(API_SETTINGS) private readonly settings: Pick<ApiSettings, 'mcpContentBytes'>,
  ) {}

  /** One block for each output, in their order. Never fails: what cannot be read now has its link. */
  async blocksOf(call: ToolCall, outputs: readonly Output[]): Promise<ContentBlock[]> {
    const blocks: ContentBlock[] = [];
    let leftBytes = this.settings.mcpContentBytes;
    for (const output of outputs) {
      const fits = isShown(output, call) && output.size_bytes <= leftBytes && !call.signal.aborted;
      const bytes = fits ? await this.read(call, output) : null;
      if (bytes !== null) leftBytes -= bytes.length;
      blocks.push(bytes === null ? linkTo(output, call) : blockOf(output, bytes));
    }
    return blocks;
  }

  /** Null where the bytes are gone, cannot be read now, or too many are in memory. */
  private async read({ visitor, request }: ToolCall, { id, size_bytes: sizeBytes }: Output): Promise<Buffer | null> {
    try {
      holdBytes(request, sizeBytes * COPIES);
      const { body } = await this.content.open(visitor.scope, id, { method: 'GET' });
      return body === null ? null : await buffer(body);
    } catch (error) {
      if (!(error instanceof Refusal)) {
        this.logger.warn(`output ${id} could not be read in request ${visitor.requestId}: ${(error as Error).message}`);
      }
      return null;
    }
  }
}

/** The type of an output was found in its bytes when they were stored. */
function isShown({ content_type: type }: Output, { revision }: ToolCall): boolean {
  const kinds = revision < SOUNDS_SINCE ? [PICTURES, TEXTS] : [PICTURES, SOUNDS, TEXTS];
  return kinds.some((types) => types.has(essenceOf(type)));
}

function blockOf({ content_type: type, url }: Output, bytes: Buffer): ContentBlock {
  const mimeType = essenceOf(type);
  if (TEXTS.has(mimeType)) return { type: 'resource', resource: { uri: url, mimeType, text: bytes.toString() } };
  return { type: PICTURES.has(mimeType) ? 'image' : 'audio', data: bytes.toString('base64'), mimeType };
}

function linkTo(
  { content_type: mimeType, name, node_id: node, size_bytes: size, ...output }: Output,
  { revision }: ToolCall,
): ContentBlock {
  const description = `Output of node ${node}. The link needs no credential and works until ${output.url_expires_at}.`;
  if (revision < LINKS_SINCE)
    return { type: 'text', text: `${name} (${mimeType}, ${size} bytes): ${output.url}\n${description}` };
  return { type: 'resource_link', uri: output.url, name, mimeType, size, description };
}

function essenceOf(type: string): string {
  return (type.split(';')[0] ?? '').trim().toLowerCase();
}

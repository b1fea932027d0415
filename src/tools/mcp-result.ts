import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { ToolResult } from './tool.ts';

type Content = CallToolResult['content'][number];

/** What a server answered as one text: texts as they are, structured content as JSON, the rest as a note. */
export function toToolResult(answer: {
  readonly content?: unknown;
  readonly structuredContent?: unknown;
  readonly isError?: unknown;
}): ToolResult {
  const content = Array.isArray(answer.content) ? (answer.content as readonly Content[]) : [];
  const parts = content.map(toText);
  const { structuredContent } = answer;
  if (structuredContent !== undefined && parts.length === 0) parts.push(JSON.stringify(structuredContent));
  return { status: answer.isError === true ? 'error' : 'success', text: parts.join('\n') };
}

function toText(part: Content): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'image':
    case 'audio':
      return `[${part.type}: ${part.mimeType}, ${toBytes(part.data)} bytes; not shown]`;
    case 'resource':
      return 'text' in part.resource
        ? part.resource.text
        : `[resource: ${part.resource.uri}, ${toBytes(part.resource.blob)} bytes; not shown]`;
    case 'resource_link':
      return `[resource: ${part.name}, ${part.uri}]`;
  }
}

const toBytes = (base64: string): number => Buffer.byteLength(base64, 'base64');

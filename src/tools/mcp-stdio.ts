import { spawn, type ChildProcess } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import { ReadBuffer, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { endOwnedProcesses } from '../environments/end-processes.ts';
import { loadRecordedProcesses, recordBeforeStart, recordStart } from '../environments/process-record.ts';
import { readBootId } from '../environments/process-table.ts';

export type StdioServer = {
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment of the server but its mark. */
  readonly variables: { readonly [name: string]: string };
  /** Null = a directory of its own. */
  readonly cwd: string | null;
  /** Where its process is written down, so that one that a dead worker left is found. Its last part is its mark. */
  readonly folder: string;
};

const KEPT_ERROR_CHARACTERS = 2_000;

/**
 * JSON-RPC over the standard streams of a process. The SDK's own transport starts its process in the worker's group;
 * this one gives it a group of its own, writes it down, and ends the whole tree.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  private readonly server: StdioServer;
  private readonly lines = new ReadBuffer({});
  private child: ChildProcess | null = null;
  private errorText = '';

  constructor(server: StdioServer) {
    this.server = server;
  }

  /** What the server wrote to standard error last, for a message. */
  get lastWords(): string {
    return this.errorText.trim().slice(-500);
  }

  async start(): Promise<void> {
    const { command, args, variables, cwd, folder } = this.server;
    await mkdir(folder, { recursive: true });
    recordBeforeStart(folder);
    const child = spawn(command, [...args], {
      cwd: cwd ?? folder,
      env: { ...variables, ASSAY_MCP: toMark(folder) },
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.child = child;
    const { promise: started, resolve, reject } = Promise.withResolvers<void>();
    child.once('spawn', resolve).once('error', reject);
    child.once('exit', () => this.onclose?.());
    child.stdin.on('error', (error) => this.onerror?.(error));
    child.stdout.on('data', (chunk: Buffer) => this.read(chunk));
    child.stderr.on('data', (chunk: Buffer) => {
      this.errorText = (this.errorText + chunk.toString('utf8')).slice(-KEPT_ERROR_CHARACTERS);
    });
    await started;
    if (child.pid !== undefined) await recordStart({ root: folder, bootId: readBootId() }, child.pid);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.child?.stdin;
    if (stdin == null || !stdin.writable) throw new Error('the server has ended');
    if (stdin.write(serializeMessage(message))) return;
    await new Promise((resolve) => stdin.once('drain', resolve).once('close', resolve));
  }

  async close(): Promise<void> {
    this.child?.stdin?.end();
    await endRecordedServer(this.server.folder);
    this.lines.clear();
    this.onclose?.();
  }

  private read(chunk: Buffer): void {
    try {
      this.lines.append(chunk);
      for (let message = this.lines.readMessage(); message !== null; message = this.lines.readMessage())
        this.onmessage?.(message);
    } catch (error) {
      this.onerror?.(error as Error);
    }
  }
}

const toMark = (folder: string): string => folder.split('/').at(-1) ?? folder;

/** Ends a server and all that it started, also one of a dead worker, and removes its folder. */
export async function endRecordedServer(folder: string): Promise<void> {
  const recorded = await loadRecordedProcesses(folder);
  await endOwnedProcesses({
    scope: 'session',
    marker: `ASSAY_MCP=${toMark(folder)}`,
    recorded,
    root: folder,
  });
  await rm(folder, { recursive: true, force: true });
}
